/** `ductor run show`: where a run stands, drawn and told. */
import { type GetRunResponse, Run } from '../../gen/ductor/v1/run.js';
import type { WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { type PictureFormat, pictureText } from '../picture/format.js';
import { runPicture } from '../picture/picture.js';
import { runText } from '../view/run-view.js';
import { findVersion, given } from '../workflow/find-definition.js';

/** Options of the command. */
export interface ShowRunOptions extends ClientOptions {
  readonly format?: PictureFormat;
}

/** A run. Throws not_found. */
export async function findRun(engine: EngineClient, runId: string): Promise<Run> {
  const { data } = await engine.ask<GetRunResponse>((...rest) => engine.runs.getRun({ runId }, ...rest));
  return given(data);
}

/** The definition a run executes; undefined where the key may not read it, and the drawing is left out. */
export async function definitionOf(engine: EngineClient, run: Run): Promise<WorkflowDefinition | undefined> {
  try {
    return (await findVersion(engine, run.familySlug, run.version)).definition;
  } catch (error) {
    const { code } = DuctorError.from(error);
    if (code === 'permission_denied' || code === 'not_found') return undefined;
    throw error;
  }
}

/** The picture of a run; without its definition there is nothing to draw. */
function runPictureText(run: Run, definition: WorkflowDefinition | undefined, format: PictureFormat): string {
  if (definition !== undefined) return pictureText(runPicture(run, definition), format);
  const version = `version ${run.version} of ${run.familySlug}`;
  const message = `run ${run.id} cannot be drawn: ${version} cannot be read with this key`;
  throw new DuctorError('permission_denied', message, {
    remedy: 'Take a key that may read workflows, or leave --format out.',
  });
}

/** Runs the command. */
export function showRun(context: CliContext, runId: string, options: ShowRunOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const run = await findRun(engine, runId);
    if (options.json === true) {
      terminal.out(`${await messageToJson('Run', Run, run)}\n`);
      return;
    }
    const definition = await definitionOf(engine, run);
    if (options.format === undefined) terminal.out(runText(run, definition, terminal, clock.nowUs()));
    else terminal.out(runPictureText(run, definition, options.format));
  });
}
