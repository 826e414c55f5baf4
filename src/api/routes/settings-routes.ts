/** What this process goes by, and what its topics are to be like. */
import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context/index.ts'
import { settingsSchema } from '../schemas/index.ts'

export function settingsRoutes(instance: FastifyInstance, { settings = [], topics = [], partitions }: ApiContext): void {
  instance.get('/v1/settings', { config: { role: 'viewer' }, schema: settingsSchema }, () => ({ settings, topics, partitions }))
}
