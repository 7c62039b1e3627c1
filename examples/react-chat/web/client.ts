import { createClient } from '@allium/server/client'
import type { agent } from '../src/agent.ts'

/** Created once, so that all components share their sessions. */
export const client = createClient<typeof agent>({ url: '/api' })
