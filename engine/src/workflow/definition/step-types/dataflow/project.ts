/** project: builds one value. `{"operation": "project", "project": {"name": "input.name"}}` */
import type { Operation } from './operation.js';
import { argOf } from './operation.js';

/** The value of the template. */
export const PROJECT: Operation = {
  name: 'project',
  fields: {
    project: { kind: 'template', isRequired: true, example: '{"message": "\\"hello\\""}', variables: 'step' },
  },
  compile: (args, build) => build.template(argOf(args, 'project'), 'args.project', 'step'),
};
