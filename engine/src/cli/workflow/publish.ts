/** `ductor workflow publish`: a definition out of a file becomes a version. */
import {
  CreateWorkflowRequest,
  type CreateWorkflowResponse,
  type PublishWorkflowResponse,
  type UpdateWorkflowResponse,
  type ValidateWorkflowResponse,
  Workflow,
  WorkflowDefinition,
} from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson } from '../output/message-json.js';
import { readText } from '../read-text.js';
import { findWorkflow, given } from './find-definition.js';

/** Options of the command. */
export interface PublishOptions extends ClientOptions {
  /** Say what is wrong, store nothing. */
  readonly check?: boolean;
}

/** The workflow if there is one. */
async function existing(engine: EngineClient, slug: string): Promise<Workflow | undefined> {
  try {
    return await findWorkflow(engine, slug);
  } catch (error) {
    if (DuctorError.from(error).code === 'not_found') return undefined;
    throw error;
  }
}

async function validate(engine: EngineClient, definition: WorkflowDefinition, where: string): Promise<void> {
  const { data } = await engine.ask<ValidateWorkflowResponse>((...rest) =>
    engine.workflows.validateWorkflow({ workflowId: '', definition }, ...rest),
  );
  const { valid, problems } = given(data);
  if (valid) return;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new DuctorError('invalid_definition', `${where} has ${count}`, { details: problems });
}

/** Lays the definition down as draft. */
async function store(
  engine: EngineClient,
  before: Workflow | undefined,
  definition: WorkflowDefinition,
): Promise<Workflow> {
  if (before === undefined) {
    const { data } = await engine.ask<CreateWorkflowResponse>((...rest) =>
      engine.workflows.createWorkflow(CreateWorkflowRequest.fromPartial(definition), ...rest),
    );
    return given(data);
  }
  const { data } = await engine.ask<UpdateWorkflowResponse>((...rest) =>
    engine.workflows.updateWorkflow({ workflowId: before.id, definition }, ...rest),
  );
  return given(data);
}

/**
 * Makes a definition a version of its workflow; known content answers its version.
 *
 * @returns the workflow as it was, where there was one, and as it is
 * @throws invalid_definition and more
 */
export async function publishDefinition(
  engine: EngineClient,
  definition: WorkflowDefinition,
): Promise<{ readonly before: Workflow | undefined; readonly after: Workflow }> {
  const before = await existing(engine, definition.familySlug);
  const stored = await store(engine, before, definition);
  const { data } = await engine.ask<PublishWorkflowResponse>((...rest) =>
    engine.workflows.publishWorkflow({ workflowId: stored.id, expectedVersion: stored.recordVersion }, ...rest),
  );
  return { before, after: given(data) };
}

function outcomeText(before: Workflow | undefined, after: Workflow): string {
  const { familySlug, currentVersion } = after;
  if (before?.currentVersion !== currentVersion) return `published ${familySlug} version ${currentVersion}\n`;
  return (
    `nothing has changed: ${familySlug} has a version with this content; version ${currentVersion} stays current\n` +
    `  (ductor workflow promote ${familySlug} VERSION makes another version current)\n`
  );
}

/** Runs the command. */
export function publishWorkflow(context: CliContext, file: string, options: PublishOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const where = file === '-' ? 'standard input' : file;
    const definition = await messageFromJson('WorkflowDefinition', WorkflowDefinition, readText(file), where);
    await validate(engine, definition, where);
    if (options.check === true) {
      terminal.out(options.json === true ? '{"valid":true}\n' : `${where} is fine\n`);
      return;
    }
    const { before, after } = await publishDefinition(engine, definition);
    if (options.json === true) terminal.out(`${await messageToJson('Workflow', Workflow, after)}\n`);
    else terminal.out(outcomeText(before, after));
  });
}
