/** `ductor endpoint …`: apps that the engine calls. */
import { type Command, Option } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { wholeNumber } from '../options.js';
import { listEndpoints } from './list.js';
import { registerEndpoint, type RegisterOptions } from './register.js';
import { deleteEndpoint, showEndpoint } from './show.js';

const MAX_PAGE = 200;
const MAX_CONCURRENCY = 10_000;

/** Adds the commands. */
export function endpointCommands(root: Command, context: CliContext): void {
  const group = root
    .command('endpoint')
    .description('apps that the engine calls, by signed HTTP or gRPC, instead of workers that hold a stream');
  clientCommand(group, {
    usage: 'register <name>',
    summary: 'make an endpoint, or change the one of this name, and print the key to verify its calls with',
    examples: [
      [
        'ductor endpoint register web --url https://app.example.com/callbacks',
        'signed HTTP; the app brings definitions',
      ],
      [
        'ductor endpoint register calls --form grpc --url https://app.example.com:8443',
        'the app hosts the gRPC service',
      ],
    ],
  })
    .requiredOption('--url <url>', 'where it is called')
    .addOption(new Option('--form <form>', 'how it is called').choices(['http', 'grpc']).default('http'))
    .option('--audience <text>', 'whom calls name as meant for (default: the URL)')
    .option('--queue <name...>', 'queues it serves (default: default)')
    .option('--concurrency <count>', 'attempts out with it at once (default: 50)', wholeNumber(1, MAX_CONCURRENCY))
    .option('--timeout <duration>', 'longest time of a call (default: 30s)')
    .action((name: string, options: RegisterOptions) => registerEndpoint(context, name, options));
  clientCommand(group, {
    usage: 'list',
    summary: 'list endpoints, newest first, and how they are',
    examples: [['ductor endpoint list --json', 'the same as GET /api/endpoints']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, MAX_PAGE), MAX_PAGE)
    .action((options: ClientOptions & { readonly limit: number }) => listEndpoints(context, options));
  clientCommand(group, {
    usage: 'show <endpoint-id>',
    summary: 'show an endpoint: what it serves, its key, why it is not called',
    examples: [['ductor endpoint show 0190…', 'as the node that answers sees it']],
  }).action((id: string, options: ClientOptions) => showEndpoint(context, id, options));
  clientCommand(group, {
    usage: 'delete <endpoint-id>',
    summary: 'take an endpoint away; calls under way are finished',
    examples: [['ductor endpoint delete 0190…', 'within 5 seconds no node calls it any more']],
  }).action((id: string, options: ClientOptions) => deleteEndpoint(context, id, options));
}
