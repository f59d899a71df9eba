/** `ductor endpoint show` and `delete`. */
import { type DeleteEndpointResponse, Endpoint, type GetEndpointResponse } from '../../gen/ductor/v1/endpoint.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { endpointText } from './texts.js';

/** Shows one. */
export function showEndpoint(context: CliContext, endpointId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<GetEndpointResponse>((...rest) =>
      engine.endpoints.getEndpoint({ endpointId }, ...rest),
    );
    const endpoint = data ?? Endpoint.fromPartial({});
    const { terminal } = context;
    if (options.json === true) terminal.out(`${await messageToJson('Endpoint', Endpoint, endpoint)}\n`);
    else terminal.out(endpointText(endpoint));
  });
}

/** Takes one away. */
export function deleteEndpoint(context: CliContext, endpointId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<DeleteEndpointResponse>((...rest) =>
      engine.endpoints.deleteEndpoint({ endpointId }, ...rest),
    );
    const endpoint = data ?? Endpoint.fromPartial({});
    const { terminal } = context;
    if (options.json === true) terminal.out(`${await messageToJson('Endpoint', Endpoint, endpoint)}\n`);
    else terminal.out(`deleted ${endpoint.name} (${endpoint.id}); within 5 seconds no node calls it any more\n`);
  });
}
