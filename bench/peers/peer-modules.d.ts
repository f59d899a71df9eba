/**
 * What the bench uses of its peers' packages. They are installed in bench/ only when it is run, and the project is
 * checked without them, so their types are stated here.
 */

declare module '@dbos-inc/dbos-sdk' {
  /** A started run. */
  export interface DbosHandle {
    getResult(): Promise<unknown>;
  }

  /** A run as a list shows it. */
  export interface DbosStatus {
    readonly workflowID: string;
  }

  /** The library in a process that executes runs. */
  export const DBOS: {
    setConfig(config: {
      readonly name: string;
      readonly systemDatabaseUrl: string;
      readonly systemDatabasePoolSize: number;
      readonly logLevel: string;
    }): void;
    migrate(systemDatabaseUrl: string): Promise<void>;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    isInitialized(): boolean;
    registerWorkflow<Out>(
      workflow: (n: number) => Promise<Out>,
      config: { readonly name: string },
    ): (n: number) => Promise<Out>;
    registerQueue(
      name: string,
      options: { readonly workerConcurrency: number; readonly onConflict: 'always_update' },
    ): Promise<unknown>;
    startWorkflow(workflow: (n: number) => Promise<unknown>): (n: number) => Promise<DbosHandle>;
    runStep<Out>(step: () => Promise<Out>, config: { readonly name: string }): Promise<Out>;
    sleep(ms: number): Promise<void>;
  };

  /** The library in a process that only starts runs. */
  export class DBOSClient {
    static create(options: {
      readonly systemDatabaseUrl: string;
      readonly systemDatabasePoolSize: number;
      readonly applicationName: string;
    }): Promise<DBOSClient>;
    enqueue(options: { readonly queueName: string; readonly workflowName: string }, n: number): Promise<DbosHandle>;
    listWorkflows(filter: { readonly status: string }): Promise<readonly DbosStatus[]>;
    destroy(): Promise<void>;
  }
}

declare module '@restatedev/restate-sdk' {
  import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

  /** What a handler is given. */
  export interface Context {
    run<Out>(name: string, step: () => Promise<Out>): Promise<Out>;
    sleep(ms: number): Promise<void>;
  }

  /** A service to serve. */
  export interface ServiceDefinition {
    readonly name: string;
  }

  /** Declares a service. */
  export function service(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, (context: Context, n: number) => Promise<unknown>>>;
  }): ServiceDefinition;

  /** Waits for several steps. */
  export const RestatePromise: { all<Out>(promises: readonly Promise<Out>[]): Promise<Out[]> };

  /** The endpoint that the server calls. */
  export function createEndpointHandler(options: {
    readonly services: readonly ServiceDefinition[];
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}
