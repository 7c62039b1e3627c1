type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const count: Schema = { type: 'integer', minimum: 0 }
const time: Schema = { type: 'number', description: 'Milliseconds since the epoch.' }
const flag: Schema = { type: 'boolean' }

const run = object({
  run: text,
  key: object({ tenant: text, owner: text, agent: text, sessionId: text }),
  agent: text,
  version: text,
  queue: text,
  priority: { type: 'integer' },
  status: text,
  runAt: time,
  attempts: count,
  updatedAt: time,
})

/** Schemas of the answers for the OpenAPI document, by name. */
export const schemas: Readonly<Record<string, Schema>> = {
  OperatedRuns: { ...object({ runs: list(run), cursor: text }), required: ['runs'] },
  OperatedSummary: object({
    groups: list(object({ status: text, agent: text, version: text, queue: text, count, oldestAge: count })),
    failures: list(object({ code: text, count })),
  }),
  OperatedRun: object({
    run,
    timeline: list(object({ type: text, at: time })),
    hasEarlier: flag,
    pending: list({ ...object({ callId: text, name: text, expiresAt: time }), required: ['callId', 'name'] }),
  }),
  OperatedStop: object({ stopping: flag }),
  OperatedRetry: object({ queued: flag }),
  OperatedMigration: {
    ...object({ fits: flag, reason: text, replayed: count, recorded: count, moved: flag }),
    required: ['fits', 'replayed', 'recorded', 'moved'],
  },
  OperatedExport: { type: 'object', required: ['format', 'run', 'timeline', 'steps'] },
}

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties }
}

function list(items: Schema): Schema {
  return { type: 'array', items }
}
