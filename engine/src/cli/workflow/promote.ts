/** `ductor workflow promote`. */
import { type PromoteWorkflowResponse, Workflow } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { findWorkflow, given } from './find-definition.js';

/** Runs the command. */
export function promoteWorkflow(
  context: CliContext,
  slug: string,
  version: number,
  options: ClientOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const before = await findWorkflow(engine, slug);
    // Guarded by what was read: two people who promote at once hear of each other.
    const request = { workflowId: before.id, version, expectedVersion: before.recordVersion };
    const { data } = await engine.ask<PromoteWorkflowResponse>((...rest) =>
      engine.workflows.promoteWorkflow(request, ...rest),
    );
    const after = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('Workflow', Workflow, after)}\n`);
    else if (before.currentVersion === version) terminal.out(`${after.familySlug} runs version ${version} already\n`);
    else terminal.out(`${after.familySlug} runs version ${version} from now on; it ran ${before.currentVersion}\n`);
  });
}
