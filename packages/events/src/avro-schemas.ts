/** The Avro schemas of what others send to Freshet, or get from it. */
import { schemaFile } from './avro.ts';

export const avroSchemas = {
  rating: schemaFile('rating.avsc') as object,
  recommendationRequest: schemaFile('recommendation-request.avsc') as object,
  recommendation: schemaFile('recommendation.avsc') as object,
};
