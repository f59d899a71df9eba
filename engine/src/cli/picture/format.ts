/** The `--format` of commands that draw. */
import { Option } from 'commander';
import { DuctorError } from '../../kernel/index.js';
import { mermaidOf } from './mermaid.js';
import { allSteps, type Picture } from './picture.js';
import { svgOf } from './svg.js';

const FORMATS = ['mermaid', 'svg'] as const;
/** More make an SVG that nobody can read, and take long to lay out. */
const MOST_SVG_STEPS = 500;

/** What `--format` names. */
export type PictureFormat = (typeof FORMATS)[number];

/** The option. It has no default: without it people get the text drawing. */
export function formatOption(): Option {
  const option = new Option(
    '--format <format>',
    'print only the picture, for documents: a mermaid flowchart, or an SVG',
  );
  return option.choices(FORMATS).conflicts('json');
}

/** The text of a picture. Throws invalid_argument when it is too large for the format. */
export function pictureText(picture: Picture, format: PictureFormat): string {
  if (format === 'mermaid') return mermaidOf(picture);
  const count = allSteps(picture).length;
  if (count <= MOST_SVG_STEPS) return svgOf(picture);
  throw new DuctorError('invalid_argument', `${count} steps are too many for an SVG, which holds ${MOST_SVG_STEPS}`, {
    remedy: 'Take --format mermaid, or leave --format out: the text tells large graphs layer by layer.',
  });
}
