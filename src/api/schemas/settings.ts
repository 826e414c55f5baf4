/** Schema of the route that shows the settings. */
import { closed, problemResponses } from './common.ts'

const settingSchema = {
  title: 'EffectiveSetting',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'value', 'given', 'secret', 'unit', 'description'],
  properties: {
    name: { type: 'string' },
    value: { type: ['string', 'null'], description: 'Null if it is absent or secret.' },
    given: { type: 'boolean', description: 'Whether it was set. False: the default applies.' },
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
    schema: { type: 'string', description: 'Name of the schema of its record values.' },
    config: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const

export const settingsSchema = {
  operationId: 'getSettings',
  tags: ['System'],
  summary: 'Settings of the answering process, without secrets',
  description: 'Its settings with their defaults, and the topics as it creates them if they are missing.',
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
        partitions: { type: 'integer', description: 'Number of partitions of every topic.' },
      },
    },
    ...problemResponses,
  },
} as const
