import { describe, expect, it } from 'vitest';
import { addressKind, isWithin, parseAddress, parseNetwork } from './address.js';

const kindOf = (text: string): string => {
  const bytes = parseAddress(text);
  return bytes === null ? 'no address' : addressKind(bytes);
};

describe('parseAddress', () => {
  it('reads the standard forms', () => {
    expect(parseAddress('1.2.3.4')).toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(parseAddress('::')).toEqual(new Uint8Array(16));
    const same = ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', '2001:db8:0::0:1', '2001:db8::0.0.0.1'].map(parseAddress);
    expect(new Set(same.map(String)).size).toBe(1);
    expect(parseAddress('::ffff:1.2.3.4')?.slice(10)).toEqual(Uint8Array.of(255, 255, 1, 2, 3, 4));
  });

  it('takes nothing else', () => {
    const texts = [
      '',
      '1',
      '1.2.3',
      '1.2.3.4.5',
      '01.2.3.4',
      '0x7f.0.0.1',
      '1.2.3.256',
      '1.2.3.-4',
      ' 1.2.3.4',
      '1.2.3.4 ',
    ];
    const colons = [':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '::12345', '::g'];
    const odd = [
      'fe80::1%eth0',
      '[::1]',
      '::1.2.3',
      '::1.2.3.4.5',
      '1.2.3.4::',
      '::ffff:1.2.3.256',
      '::１',
      'localhost',
    ];
    for (const text of [...texts, ...colons, ...odd]) expect([text, parseAddress(text)]).toEqual([text, null]);
  });
});

describe('addressKind', () => {
  const KINDS: Readonly<Record<string, readonly string[]>> = {
    public: ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255']
      .concat(['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'])
      .concat([
        '192.169.0.0',
        '198.17.255.255',
        '198.20.0.0',
        '223.255.255.255',
        '2606:4700::1111',
        '2a00::1',
        '2003::',
      ])
      .concat(['168.63.129.15', '168.63.129.17', '2001:200::', '3ffe::1']),
    unspecified: ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
    loopback: ['127.0.0.0', '127.0.0.1', '127.1.2.3', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
    private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'].concat([
      'fc00::',
      'fdff::1',
      'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      'fec0::1',
      'feff::1',
    ]),
    carrier_nat: ['100.64.0.0', '100.127.255.255', '100.100.100.199'],
    link_local: ['169.254.0.0', '169.254.255.255', '169.254.169.253', 'fe80::', 'fe80::1', 'febf::1'],
    metadata: ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
    multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff::'],
    translated: ['::127.0.0.1', '::8.8.8.8', '::2', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:a9fe:a9fe', '2002::']
      .concat(['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '2001::1', '2002:7f00:1::'])
      .concat(['2002:a9fe:a9fe::', '192.88.99.1', '2001:0:7f00:1::']),
    reserved: [
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.0',
      '198.19.255.255',
      '198.51.100.1',
      '203.0.113.255',
      '240.0.0.0',
    ].concat([
      '255.255.255.255',
      '2001:db8::1',
      '2001:10::',
      '3fff::1',
      '100::1',
      '1::1',
      '4000::',
      '5f00::1',
      'e000::',
    ]),
  };

  for (const [kind, addresses] of Object.entries(KINDS)) {
    it(`knows ${kind} addresses by their bytes`, () => {
      expect(addresses.map((address) => [address, kindOf(address)])).toEqual(addresses.map((text) => [text, kind]));
    });
  }
});

describe('networks', () => {
  it('hold the addresses whose first bits are theirs', () => {
    const holds = (network: string, address: string): boolean | undefined => {
      const [range, bytes] = [parseNetwork(network), parseAddress(address)];
      return range === null || bytes === null ? undefined : isWithin(bytes, range);
    };
    expect(holds('10.32.0.0/11', '10.63.255.255')).toBe(true);
    expect(holds('10.32.0.0/11', '10.64.0.0')).toBe(false);
    expect(holds('10.32.0.0/11', '10.31.255.255')).toBe(false);
    expect(holds('10.0.0.1', '10.0.0.1')).toBe(true);
    expect(holds('10.0.0.1', '10.0.0.2')).toBe(false);
    expect(holds('0.0.0.0/0', '255.1.2.3')).toBe(true);
    expect(holds('0.0.0.0/0', '::1')).toBe(false);
    expect(holds('::/0', '127.0.0.1')).toBe(false);
    expect(holds('fd00::/9', 'fd7f::1')).toBe(true);
    expect(holds('fd00::/9', 'fd80::1')).toBe(false);
  });

  it('are not guessed', () => {
    for (const text of [
      '',
      '10',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '::/129',
      'private',
      '/8',
    ]) {
      expect([text, parseNetwork(text)]).toEqual([text, null]);
    }
  });
});
