/** `ductor endpoint register`. */
import {
  Endpoint,
  EndpointForm,
  RegisterEndpointRequest,
  type RegisterEndpointResponse,
} from '../../gen/ductor/v1/endpoint.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { endpointText } from './texts.js';

/** Options of the command. */
export interface RegisterOptions extends ClientOptions {
  readonly url: string;
  readonly form: 'http' | 'grpc';
  readonly audience?: string;
  readonly queue?: readonly string[];
  readonly concurrency?: number;
  readonly timeout?: string;
}

const FORMS = { http: EndpointForm.ENDPOINT_FORM_HTTP, grpc: EndpointForm.ENDPOINT_FORM_GRPC } as const;

/** Runs the command. */
export function registerEndpoint(context: CliContext, name: string, options: RegisterOptions): Promise<void> {
  const { url, form, audience = '', queue = [], concurrency = 0, timeout = '' } = options;
  const said = { name, url, audience, concurrency, timeout, form: FORMS[form], queues: [...queue] };
  return withEngine(context, options, async (engine) => {
    const request = RegisterEndpointRequest.fromPartial(said);
    const { data } = await engine.ask<RegisterEndpointResponse>((...rest) =>
      engine.endpoints.registerEndpoint(request, ...rest),
    );
    const endpoint = data ?? Endpoint.fromPartial({});
    const { terminal } = context;
    if (options.json === true) terminal.out(`${await messageToJson('Endpoint', Endpoint, endpoint)}\n`);
    else terminal.out(endpointText(endpoint));
  });
}
