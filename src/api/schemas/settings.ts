/** Schema of the route that shows the settings. */
import { closed, problemResponses } from './common.ts'

const settingSchema = {
  title: 'EffectiveSetting',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'value', 'given', 'secret', 'unit', 'description'],
  properties: {
    name: { type: 'string' },
    value: { type: ['string', 'null'], description: 'Null where it is absent, and where it is secret.' },
    given: { type: 'boolean', description: 'Whether it was given, and not left to its default.' },
    secret: { type: 'boolean' },
    unit: { type: ['string', 'null'] },
    description: { type: 'string' },
  },
} as const

const topicSchema = {
  title: 'TopicPlan',
  type: 'object',
  required: ['topic', 'schema', 'config'],
  properties: {
    topic: { type: 'string' },
    schema: { type: 'string', description: 'Name of the schema of its values.' },
    config: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const

export const settingsSchema = {
  operationId: 'getSettings',
  tags: ['System'],
  summary: 'What the answering process goes by, without secrets',
  description: 'Its settings with their defaults, and the topics as it creates them where they are missing.',
  querystring: closed({}),
  response: {
    200: {
      title: 'Settings',
      type: 'object',
      additionalProperties: false,
      required: ['settings', 'topics', 'partitions'],
      properties: {
        settings: { type: 'array', items: settingSchema },
        topics: { type: 'array', items: topicSchema },
        partitions: { type: 'integer', description: 'Of every topic.' },
      },
    },
    ...problemResponses,
  },
} as const
