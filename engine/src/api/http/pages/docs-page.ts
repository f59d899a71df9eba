/** The page of the API: every service, method and message with its comments, and a call of each by curl. */
import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf';
import type { Contract, ContractMethod } from '../../contract/contract.js';
import { connectExample, curlExample } from './example.js';
import { html, type Html } from './html.js';

type Comments = Readonly<Record<string, string>>;
type Named = DescMessage | DescEnum;

const STYLE = `
  :root { color-scheme: light dark; --line: #8884; --soft: #8881; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem 1rem 6rem; }
  h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } h3 { margin: 2rem 0 .25rem; }
  pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .4rem; } code { font-size: .9em; }
  table { border-collapse: collapse; width: 100%; }
  td, th { text-align: left; vertical-align: top; padding: .25rem .5rem; border-top: 1px solid var(--line); }
  nav a { margin-right: 1rem; } .verb { font-weight: 600; }
`;

const lastName = (fullName: string): string => fullName.slice(fullName.lastIndexOf('.') + 1);

function typeOf(field: DescField): Html {
  const { message, enum: enumeration, scalar } = field;
  const named: Named | undefined = message ?? enumeration;
  const inner =
    named === undefined
      ? html`${lastScalar(scalar)}`
      : named.typeName.startsWith('google.')
        ? html`${named.name}`
        : html`<a href="#${named.typeName}">${named.name}</a>`;
  if (field.fieldKind === 'list') return html`list of ${inner}`;
  return field.fieldKind === 'map' ? html`map to ${inner}` : inner;
}

const SCALAR_NAMES = 'double float int64 uint64 int32 fixed64 fixed32 bool string group message bytes uint32'.split(
  ' ',
);
const lastScalar = (scalar: number | undefined): string => SCALAR_NAMES[(scalar ?? 0) - 1] ?? 'number';

function fieldRows(desc: DescMessage, comments: Comments): Html {
  if (desc.fields.length === 0) return html`<p>No fields.</p>`;
  const rows = desc.fields.map(
    (field) =>
      html`<tr>
        <td><code>${field.name}</code></td>
        <td>${typeOf(field)}</td>
        <td>${comments[`${desc.typeName}.${field.name}`] ?? ''}</td>
      </tr>`,
  );
  return html`<table>
    ${rows}
  </table>`;
}

function methodSection(method: ContractMethod, comments: Comments, base: string): Html {
  const { name, path, bindings, kind, input, output } = method;
  const about = comments[path.slice(1).replace('/', '.')] ?? '';
  const places = bindings.map(
    (binding) =>
      html`<p><span class="verb">${binding.verb}</span> <code>${binding.template}</code></p>
        <pre>${curlExample(method, binding, base)}</pre>`,
  );
  const connect = kind === 'unary' ? html`<pre>${connectExample(method, base)}</pre>` : html``;
  const answer = kind === 'unary' ? html`` : html` (${kind.replace('_', ' ')})`;
  return html`<h3 id="${path}">${name}</h3>
    <p>${about}</p>
    ${places}
    <p>gRPC and Connect: <code>${path}</code>${answer}</p>
    ${bindings.length === 0 ? connect : html``}
    <h4 id="${input.typeName}">${input.name}</h4>
    ${fieldRows(input, comments)}
    <p>Answers <a href="#${output.typeName}">${output.name}</a>.</p>`;
}

function typeSection(desc: Named, comments: Comments): Html {
  const head = html`<h3 id="${desc.typeName}">${desc.name}</h3>
    <p>${comments[desc.typeName] ?? ''}</p>`;
  if (desc.kind === 'message') return html`${head}${fieldRows(desc, comments)}`;
  const rows = desc.values.map(
    ({ name }) =>
      html`<tr>
        <td><code>${name}</code></td>
        <td>${comments[`${desc.typeName}.${name}`] ?? ''}</td>
      </tr>`,
  );
  return html`${head}
    <table>
      ${rows}
    </table>`;
}

/** Messages and enums of the contract that no method names as its request. */
function types({ registry, methods }: Contract): readonly Named[] {
  const requests = new Set([...methods.values()].map(({ input }) => input.typeName));
  const own = [...registry.files].filter(({ proto }) => proto.package.startsWith('ductor.'));
  const all = own.flatMap((file): readonly Named[] => [...file.messages, ...file.enums]);
  return all.filter(({ typeName }) => !requests.has(typeName)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The page.
 *
 * @param base address for the examples: http://localhost:7400
 */
export function docsPage(contract: Contract, comments: Comments, base: string): string {
  const methods = [...contract.methods.values()];
  const services = [...new Set(methods.map(({ service }) => service))];
  const sections = services.map((service) => {
    const own = methods.filter((method) => method.service === service);
    return html`<h2 id="${service}">${lastName(service)}</h2>
      <p>${comments[service] ?? ''}</p>
      ${own.map((method) => methodSection(method, comments, base))}`;
  });
  const links = services.map((service) => html`<a href="#${service}">${lastName(service)}</a>`);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Ductor API</title>
        <style>
          STYLE
        </style>
      </head>
      <body>
        <h1>Ductor API</h1>
        <p>
          REST, Connect, gRPC-Web and gRPC on this one port. Every call carries
          <code>authorization: Bearer KEY</code>. The same as OpenAPI: <a href="/openapi.json">openapi.json</a>.
        </p>
        <nav>${links}<a href="#types">Types</a></nav>
        ${sections}
        <h2 id="types">Types</h2>
        ${types(contract).map((desc) => typeSection(desc, comments))}
      </body>
    </html>`;
  return page.text.replace('STYLE', () => STYLE);
}
