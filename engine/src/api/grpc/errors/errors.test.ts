import { BinaryReader } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Error as WireError } from '../../../gen/ductor/v1/common.js';
import { DuctorError, ERROR_CATALOGUE, seededRandom, type ErrorCode } from '../../../kernel/index.js';
import { createLog } from '../../../telemetry/index.js';
import { reporter, type Report } from './report.js';
import { ERROR_KEY, STATUS_DETAILS_KEY, toStatus, type CallStatus } from './to-status.js';

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, text);
const CODES = Object.keys(ERROR_CATALOGUE).filter(isCode);
const PROBLEM = { path: 'steps[3].args.duration', value: '2x', problem: 'is no duration', remedy: 'write "2s"' };

function bytesOf({ metadata }: CallStatus, key: string): Buffer {
  const [bytes] = metadata.get(key);
  return bytes instanceof Buffer ? bytes : Buffer.alloc(0);
}

/** Fields of a message: number to the values seen. */
function fields(bytes: Uint8Array): Map<number, (string | number)[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (string | number)[]>();
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const value = wireType === 0 ? Number(reader.int64()) : Buffer.from(reader.bytes()).toString('latin1');
    found.set(field, [...(found.get(field) ?? []), value]);
  }
  return found;
}

const nested = (text: string | number | undefined): Map<number, (string | number)[]> =>
  fields(Buffer.from(String(text), 'latin1'));

describe('toStatus', () => {
  it.each(CODES)('says %s the same way in all three places', (code) => {
    const sent = toStatus(new DuctorError(code, 'what happened', { details: [PROBLEM], retryAfterMs: 1_500 }));
    const kind = ERROR_CATALOGUE[code];
    expect(sent.code).toBe(status[kind.grpc]);
    expect(sent.details).toBe('what happened');
    expect(WireError.decode(bytesOf(sent, ERROR_KEY))).toEqual({
      code,
      status: kind.grpc,
      message: 'what happened',
      details: [PROBLEM],
      retryable: kind.retryable,
      retryAfter: '1500ms',
      remedy: kind.remedy,
    });
    const rpc = fields(bytesOf(sent, STATUS_DETAILS_KEY));
    expect([rpc.get(1), rpc.get(2)]).toEqual([[sent.code], ['what happened']]);
    const [info, request, retry] = (rpc.get(3) ?? []).map(nested);
    expect(info?.get(1)).toEqual(['type.googleapis.com/google.rpc.ErrorInfo']);
    expect([...nested(info?.get(2)?.[0])]).toEqual([
      [1, [code]],
      [2, ['ductor']],
    ]);
    expect(request?.get(1)).toEqual(['type.googleapis.com/google.rpc.BadRequest']);
    expect([...nested(nested(request?.get(2)?.[0]).get(1)?.[0])]).toEqual([
      [1, [PROBLEM.path]],
      [2, [`${PROBLEM.problem}; ${PROBLEM.remedy}`]],
    ]);
    expect(retry?.get(1)).toEqual(['type.googleapis.com/google.rpc.RetryInfo']);
    expect([...nested(nested(retry?.get(2)?.[0]).get(1)?.[0])]).toEqual([
      [1, [1]],
      [2, [500_000_000]],
    ]);
  });

  it('keeps headers small, whatever is wrong, and says how much it left out', () => {
    const text = fc.string({ maxLength: 3_000, unit: 'binary' });
    const problem = fc.record({ path: text, value: text, problem: text, remedy: text });
    fc.assert(
      fc.property(text, fc.array(problem, { maxLength: 60 }), (message, details) => {
        const sent = toStatus(new DuctorError('invalid_definition', message, { details }));
        const whole = bytesOf(sent, ERROR_KEY).length + bytesOf(sent, STATUS_DETAILS_KEY).length;
        const read = WireError.decode(bytesOf(sent, ERROR_KEY));
        const left = details.length - read.details.length;
        return (
          whole * (4 / 3) + Buffer.byteLength(encodeURIComponent(sent.details)) < 12_000 &&
          (left === 0 || read.message.endsWith(`(${left} more problems are not listed)`))
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe('reporter', () => {
  const report = (): { report: Report; lines: string[] } => {
    const lines: string[] = [];
    return { lines, report: reporter(createLog({ write: (line) => void lines.push(line) }), seededRandom(3)) };
  };

  it('keeps what is inside inside, and gives the caller a tag that finds it in the log', () => {
    for (const caught of [
      new TypeError('select secret from elsewhere'),
      'select secret from elsewhere',
      new DuctorError('internal', 'select secret from elsewhere'),
      new DuctorError('database_unavailable', 'select secret from elsewhere: 10.0.0.5 refused'),
    ]) {
      const { report: tell, lines } = report();
      const seen = tell(caught, '/ductor.v1.RunService/GetRun');
      const sent = toStatus(seen);
      expect(JSON.stringify([sent.details, sent.metadata.getMap()])).not.toContain('secret');
      expect(bytesOf(sent, ERROR_KEY).toString('latin1')).not.toContain('secret');
      const tag = /\[([0-9a-f]{12})\]$/.exec(seen.message)?.[1];
      expect(tag).toBeDefined();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`"tag":"${tag}"`);
      expect(lines[0]).toContain('select secret from elsewhere');
    }
  });

  it('hands everything else on as it is and logs nothing', () => {
    const { report: tell, lines } = report();
    const error = new DuctorError('not_found', 'there is no run x', { cause: new TypeError('inner') });
    expect(tell(error, 'm')).toBe(error);
    expect(lines).toEqual([]);
    expect(bytesOf(toStatus(error), ERROR_KEY).toString('latin1')).not.toContain('inner');
  });
});
