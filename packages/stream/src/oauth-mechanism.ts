/**
 * SASL OAUTHBEARER (RFC 7628) for kafkajs, whose own takes a broker's refusal for a success. Then
 * the broker closes the connection, and nobody learns that it was the token.
 */
import type { Mechanism } from 'kafkajs';
import { type OauthClient, type OauthToken, OauthTokens } from './oauth-tokens.ts';

const SEPARATOR = '\x01';

export function oauthMechanism(client: OauthClient): Mechanism {
  const tokens = new OauthTokens(client);
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const first = firstMessage(await tokens.token());
        const response = { decode: (reply: Buffer) => reply, parse: isRefusal };
        const send = (text: string) => ({ encode: () => framed(text) });
        const isRefused = await saslAuthenticate({ request: send(first), response });
        // The broker says why in its answer to this, which is an error.
        if (isRefused) await saslAuthenticate({ request: send(SEPARATOR) });
      },
    }),
  };
}

function firstMessage({ value, extensions }: OauthToken): string {
  const pairs = Object.entries(extensions).map(([name, each]) => `${name}=${each}`);
  return ['n,,', `auth=Bearer ${value}`, ...pairs, '', ''].join(SEPARATOR);
}

/** Behind its length, as Kafka has all bytes, the reply to a token that is accepted is empty. */
const isRefusal = (reply: Buffer): boolean => reply.readInt32BE() > 0;

function framed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
