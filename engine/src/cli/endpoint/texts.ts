/** Endpoints as lines for people. */
import { type Endpoint, EndpointCircuit, EndpointForm } from '../../gen/ductor/v1/endpoint.js';
import type { Tone } from '../output/paint.js';

/** Its form, as the command line names it. */
export function formText(form: EndpointForm): string {
  return form === EndpointForm.ENDPOINT_FORM_GRPC ? 'grpc' : 'http';
}

/** Whether it is called. */
export function stateCell({ state }: Endpoint): { readonly text: string; readonly tone: Tone } {
  if (state === undefined) return { text: 'not known here yet', tone: 'quiet' };
  const { circuit, inFlight } = state;
  if (circuit === EndpointCircuit.ENDPOINT_CIRCUIT_OPEN) return { text: 'open: not called', tone: 'bad' };
  if (circuit === EndpointCircuit.ENDPOINT_CIRCUIT_HALF_OPEN) return { text: 'half open: one tries', tone: 'warning' };
  return { text: inFlight === 0 ? 'closed' : `closed, ${inFlight} under way`, tone: 'good' };
}

/** An endpoint whole. */
export function endpointText(endpoint: Endpoint): string {
  const { id, name, form, url, audience, queues, concurrency, timeout, workflows, strategies, signingKeys } = endpoint;
  const { state } = endpoint;
  const serves = workflows.map(({ familySlug, handlers, pinnedVersion }) => {
    const version = pinnedVersion === 0 ? '' : ` v${pinnedVersion}`;
    return `${familySlug}${version} (${handlers.join(', ')})`;
  });
  const chooses = strategies.map(({ name: each, version }) => (version === '' ? each : `${each} ${version}`));
  const lines = [
    ...[`${name}  ${id}`, `called     by ${formText(form)} at ${url}`],
    ...(audience === url ? [] : [`audience   ${audience}`]),
    ...[`queues     ${queues.join(', ')}`, `bounds     ${concurrency} at once, ${timeout} each`],
    `serves     ${serves.length === 0 ? 'nothing yet: the app registers what it serves' : serves.join('; ')}`,
    ...(chooses.length === 0 ? [] : [`chooses by ${chooses.join('; ')}`]),
    ...signingKeys.map((key) => `key        ${key}`),
    `circuit    ${stateCell(endpoint).text}`,
    ...(state === undefined || state.lastError === '' ? [] : [`last error ${state.lastError}`]),
  ];
  return `${lines.join('\n')}\n`;
}
