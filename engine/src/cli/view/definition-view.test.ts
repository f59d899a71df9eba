import { expect, it } from 'vitest';
import { nastyDefinition, nastyRun } from '../picture/testing/pictures.js';
import { capturedTerminal } from '../testing/captured-terminal.js';
import { definitionText } from './definition-view.js';
import { runText } from './run-view.js';

it('draws bodies below, and lists their steps further in', () => {
  const text = definitionText(nastyDefinition(), capturedTerminal());
  expect(text).toContain('\n  body of each, for each item:\n\n  ▸ call\n    ✗\n  ▸ fix\n\n  (✗ on failure)\n');
  expect(text).toMatch(/^∀ each +SCATTER .*\n {2}▸ call +CALLBACK.*\n {2}▸ fix +CALLBACK +call on failure/m);
});

it('marks a step of a body by the instance that needs most attention, and none of which the run says nothing', () => {
  const text = runText(nastyRun(), nastyDefinition(), capturedTerminal(), 0);
  expect(text).toContain('\n  body of each, for each item:\n\n  ✗ call\n');
  expect(text).toMatch(/^ +fix$/m);
});
