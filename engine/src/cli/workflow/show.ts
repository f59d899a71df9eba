/** `ductor workflow show`: a version or the draft, drawn. */
import { Workflow, type WorkflowDefinition, WorkflowVersion } from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { type PictureFormat, pictureText } from '../picture/format.js';
import { definitionPicture } from '../picture/picture.js';
import { definitionDrawing, definitionText } from '../view/definition-view.js';
import { findVersion, findWorkflow } from './find-definition.js';

/** Options of the command. */
export interface ShowOptions extends ClientOptions {
  readonly version?: number;
  readonly draft?: boolean;
  /** Only the drawing, without the table of steps. */
  readonly graph?: boolean;
  readonly format?: PictureFormat;
}

interface Shown {
  readonly what: string;
  readonly definition: WorkflowDefinition;
  readonly json: () => Promise<string>;
}

function draftOf(workflow: Workflow): Shown {
  const { draft, familySlug } = workflow;
  if (draft === undefined) {
    const remedy = 'Its versions come from workers: leave --draft out.';
    throw new DuctorError('not_found', `${familySlug} has no draft`, { remedy });
  }
  return { what: 'draft', definition: draft, json: () => messageToJson('Workflow', Workflow, workflow) };
}

async function shown(engine: EngineClient, slug: string, options: ShowOptions): Promise<Shown> {
  const workflow = await findWorkflow(engine, slug);
  const wanted = options.version ?? workflow.currentVersion;
  if (options.draft === true || wanted === 0) return draftOf(workflow);
  const version = await findVersion(engine, slug, wanted);
  const { definition } = version;
  if (definition === undefined) throw new DuctorError('internal', `version ${wanted} of ${slug} holds no definition`);
  const { currentVersion } = workflow;
  const which = wanted === currentVersion ? 'the current one' : `current is ${currentVersion}`;
  const what = `version ${wanted}, ${which}`;
  return { what, definition, json: () => messageToJson('WorkflowVersion', WorkflowVersion, version) };
}

/** Runs the command. */
export function showWorkflow(context: CliContext, slug: string, options: ShowOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { what, definition, json } = await shown(engine, slug, options);
    if (options.json === true) {
      terminal.out(`${await json()}\n`);
      return;
    }
    if (options.format !== undefined) {
      terminal.out(pictureText(definitionPicture(definition, what), options.format));
      return;
    }
    if (options.graph === true) {
      terminal.out(`${definitionDrawing(definition, terminal).join('\n')}\n`);
      return;
    }
    const title = definition.title === '' ? '' : `: ${definition.title}`;
    terminal.out(`${painter(terminal)('strong', definition.familySlug)} (${what})${title}\n\n`);
    terminal.out(definitionText(definition, terminal));
  });
}
