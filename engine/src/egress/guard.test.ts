import { describe, expect, it } from 'vitest';
import { DuctorError } from '../kernel/index.js';
import { egressGuard, type EgressGuard } from './guard.js';
import { egressPolicy, type EgressPolicy } from './policy.js';

function policyOf(...networks: string[]): EgressPolicy {
  const policy = egressPolicy(networks);
  if ('invalid' in policy) throw new TypeError(`no networks: ${policy.invalid.join(' ')}`);
  return policy;
}

/** A guard before names with these addresses. */
function guardOf(names: Record<string, readonly string[]>, ...networks: string[]): EgressGuard {
  return egressGuard(policyOf(...networks), (name) => Promise.resolve(names[name] ?? []));
}

const codeOf = (guard: EgressGuard, url: string): Promise<string> =>
  guard.check(url).then(
    () => 'allowed',
    (error: unknown) => DuctorError.from(error).code,
  );

/** Ways to write the loopback, a private and the metadata address in a URL, as browsers and curl read them. */
const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
]
  .concat([
    '0x7f.1',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '0x0',
    '00000',
    '127.255.255.254',
    '127.000.000.001',
    '0X7F.0X0.0.1',
  ])
  .concat([
    '１２７.０.０.１',
    '127。0。0。1',
    '127.0.0.①',
    '%31%32%37.0.0.1',
    '0x7f.0x0.0x0.0x1',
    '127.0x0.1',
    '127.0.0x1',
  ])
  .concat(['10.0.0.1', '10.1', '167772161', '0xa000001', '012.0.0.1', '192.168.1.1', '0xc0a80101', '3232235777'])
  .concat([
    '172.16.0.1',
    '2886729729',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
  ])
  .concat(['100.64.0.1', '100.100.100.200', '168.63.129.16', '224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1'])
  .concat([
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
  ])
  .concat(['[::ffff:a9fe:a9fe]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[2002:7f00:1::]', '[2001::7f00:1]'])
  .concat([
    '[fe80::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[::ffff:0:7f00:1]',
    '[fec0::1]',
  ]);

describe('egressGuard', () => {
  it('lets public names and addresses be called over TLS, at ports for it', async () => {
    const guard = guardOf({ 'api.example.com': ['93.184.216.34', '2606:2800:220:1::1'] });
    const target = await guard.check('https://api.example.com/v1?x=1');
    expect(target).toMatchObject({ address: '93.184.216.34', port: 443, isPlain: false, hostname: 'api.example.com' });
    expect(await guard.check('https://[2606:4700::1111]:8443/')).toMatchObject({
      address: '2606:4700::1111',
      port: 8443,
    });
    expect(await codeOf(guard, 'http://api.example.com/')).toBe('egress_refused');
    expect(await codeOf(guard, 'https://api.example.com:22/')).toBe('egress_refused');
  });

  it('sees through every spelling of an address that is not public', async () => {
    const guard = guardOf({});
    for (const host of SPELLINGS) {
      for (const scheme of ['https', 'http']) {
        const url = `${scheme}://${host}/`;
        expect([url, await codeOf(guard, url)]).toEqual([url, 'egress_refused']);
      }
    }
    expect(SPELLINGS.length * 2).toBeGreaterThan(120);
  });

  it('refuses a name when one of its addresses is not allowed, and one without any', async () => {
    const guard = guardOf({ mixed: ['93.184.216.34', '10.0.0.1'], odd: ['93.184.216.34', 'fe80::1%eth0'], none: [] });
    expect(await codeOf(guard, 'https://mixed/')).toBe('egress_refused');
    expect(await codeOf(guard, 'https://odd/')).toBe('egress_refused');
    expect(await codeOf(guard, 'https://none/')).toBe('host_unreachable');
  });

  it('looks a name up once: the address that was checked is the one to connect to', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const guard = egressGuard(policyOf(), () => Promise.resolve(answers.shift() ?? []));
    expect(await guard.check('https://rebinding.example/')).toMatchObject({ address: '93.184.216.34' });
    expect(await codeOf(guard, 'https://rebinding.example/')).toBe('egress_refused');
  });

  it('lets allowed networks be called in plain text and at any port, and those only', async () => {
    const guard = guardOf({ app: ['10.1.2.3'], other: ['10.2.0.1'] }, '10.1.0.0/16', '127.0.0.1');
    expect(await guard.check('http://app:3000/x')).toMatchObject({ address: '10.1.2.3', port: 3000, isPlain: true });
    expect(await codeOf(guard, 'http://other:3000/')).toBe('egress_refused');
    expect(await codeOf(guard, 'http://127.0.0.1:80/')).toBe('allowed');
    expect(await codeOf(guard, 'http://127.0.0.2/')).toBe('egress_refused');
    expect(await codeOf(guard, 'http://[::ffff:127.0.0.1]/')).toBe('egress_refused');
  });

  it('opens a metadata service only to its own address', async () => {
    const url = 'http://169.254.169.254/';
    expect(await codeOf(guardOf({}, '169.254.0.0/16'), url)).toBe('egress_refused');
    expect(await codeOf(guardOf({}, '169.254.169.254'), url)).toBe('allowed');
  });

  it('says what is wrong with a URL before any look-up', () => {
    const guard = guardOf({});
    expect(guard.problemOf('https://api.example.com/x')).toBeNull();
    for (const [url, problem] of [
      ['', 'no URL'],
      ['api.example.com', 'no URL'],
      ['ftp://api.example.com/', 'scheme is ftp'],
      ['file:///etc/passwd', 'scheme is file'],
      ['https://user@api.example.com/', 'user name'],
      ['https://:secret@api.example.com/', 'password'],
      ['https://127.0.0.1/', 'loopback'],
      ['http://8.8.8.8/', 'without TLS'],
      [`https://a/${'x'.repeat(3_000)}`, 'characters'],
    ] as const) {
      expect(guard.problemOf(url)).toContain(problem);
    }
  });
});

describe('egressPolicy', () => {
  it('names what is no network', () => {
    expect(egressPolicy(['10.0.0.0/8', 'loopback', '1.2.3'])).toEqual({ invalid: ['loopback', '1.2.3'] });
  });
});
