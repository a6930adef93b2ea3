import { RatingReader } from '@freshet/events';
import { MemoryStore } from '@freshet/store';
import { tracesIn } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { MemoryLog } from '@freshet/testkit';
import { expect, it } from 'vitest';
import { Intake } from './intake.ts';

async function intakeOn(kafka: MemoryLog): Promise<Intake> {
  const intake = new Intake({
    model: 'm',
    shards: 1,
    topic: 'ratings',
    reader: new RatingReader({ valueMax: 100, schemaIds: [] }),
    publisher: kafka,
    admin: kafka,
    store: new MemoryStore(),
    agreement: { renew: async () => {}, born: 0, rebuilt: 0 },
    log: openLog('intake', 'silent'),
  });
  await intake.takeOver(0);
  return intake;
}

it('sends the traceparent of each rating along, by its place in the record', async () => {
  const kafka = new MemoryLog(1);
  const intake = await intakeOn(kafka);
  const trace = (digit: string) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`;
  const send = (rating: object, headers = {}) =>
    kafka.append({
      topic: 'ratings',
      key: null,
      value: Buffer.from(JSON.stringify(rating)),
      headers,
    });
  const consumeFrom = async (offset: number) => {
    const records = kafka.records('ratings', 0).slice(offset);
    await intake.consume(0, records, offset + records.length, async () => {});
  };
  await send({ user: 'ann', item: 'fox' });
  await send({ user: 'no item' }, { traceparent: trace('a') });
  await send({ user: 'bob', item: 'fox' }, { traceparent: trace('b') });
  await send({ user: 'eve', item: 'fox' }, { traceparent: 'nonsense' });
  await consumeFrom(0);
  await send({ user: 'zoe', item: 'fox' });
  await consumeFrom(4);
  const [first, second] = kafka.records('m.user-ratings', 0);
  expect(tracesIn(first ?? { headers: {} })).toEqual(new Map([[1, trace('b')]]));
  expect(second?.headers).toEqual({ 'freshet-format': first?.headers['freshet-format'] });
  const [letter] = kafka.records('ratings-dead-letter', 0);
  expect(letter?.headers).toMatchObject({ traceparent: trace('a'), 'freshet-reason': 'bad-id' });
});
