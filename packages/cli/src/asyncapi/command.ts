/** `freshet asyncapi`: prints the AsyncAPI document of these settings. */
import { operatorCommand, say } from '../operator-command.ts';
import { asyncapiDocument } from './document.ts';

const HELP = `freshet asyncapi

Prints an AsyncAPI 3.0 document, in JSON, of the topics that others share with Freshet: ratings,
items, requests, recommendations and dead letters. It is made for the settings of this environment:
RATINGS_TOPICS, RATING_FIELDS, RATING_KINDS, SHARDS, and KAFKA_BROKERS with their security, without
any secret. It connects to nothing. docs/asyncapi.json is the document of the default settings.

Exit code: 0 done, 1 a setting is wrong.
`;

export const asyncapi = operatorCommand({
  name: 'asyncapi',
  help: HELP,
  options: {},
  cannot: 1,
  run: async (_, { settings }) => {
    say(JSON.stringify(asyncapiDocument(settings), null, 2));
    return 0;
  },
});
