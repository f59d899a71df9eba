/** What somebody decided on an approval: how it travels as the payload of a signal, and what the step yields. */
import { embedded, extracted, jsonOfValue, typedValue, type TypedJson } from './typed-json.js';
import type { Signal } from './signal-box.js';
import { formatTimestampUs } from './timestamp.js';
import { NULL_VALUE, type Value } from './value.js';

/** A decision. */
export interface Decision {
  readonly option: string;
  readonly comment: string;
  /** As whoever decided encoded it; JSON null when there is none. */
  readonly form: Value;
}

/** A decision as the payload of a signal. Throws, of whatever class, when the form is not what its encoding says. */
export function decisionPayload({ option, comment, form }: Decision): Value {
  const { json, types } = embedded(form, 'form');
  return typedValue({ json: { option, comment, form: json }, types });
}

function read(payload: Value): TypedJson | undefined {
  try {
    return jsonOfValue(payload);
  } catch {
    return undefined;
  }
}

/** The decision in a payload; undefined when it holds none. */
export function decisionIn({ payload }: Pick<Signal, 'payload'>): Decision | undefined {
  const found = read(payload);
  const json = found?.json;
  if (found === undefined || typeof json !== 'object' || json === null) return undefined;
  if (!('option' in json) || typeof json.option !== 'string') return undefined;
  const comment = 'comment' in json && typeof json.comment === 'string' ? json.comment : '';
  return { option: json.option, comment, form: extracted(found, 'form') };
}

/** What an approval yields by this signal. */
export function decisionOutput(signal: Signal, nowUs: number): Value {
  const { option = '', comment = '', form = NULL_VALUE } = decisionIn(signal) ?? {};
  const { json, types } = embedded(form, 'form');
  return typedValue({ json: { option, by: signal.by, comment, form: json, at: formatTimestampUs(nowUs) }, types });
}
