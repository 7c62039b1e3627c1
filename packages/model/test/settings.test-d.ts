import { settings } from '../src/index.ts'

settings({ defaults: { temperature: 0 }, overrides: async () => undefined })

// @ts-expect-error: settings stand in defaults or overrides
settings({ temperature: 0 })
// @ts-expect-error: it is maxOutputTokens
settings({ overrides: { maxTokens: 100 } })
