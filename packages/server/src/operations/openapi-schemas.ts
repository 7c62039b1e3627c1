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
  addedAt: time,
  updatedAt: time,
})

const schedule = {
  ...object({
    ...{ tenant: text, owner: text, id: text, agent: text, cron: text, tz: text, missed: text, paused: flag },
    ...{ nextAt: time, lastAt: time, lastRun: text, sessionId: text },
  }),
  required: ['tenant', 'owner', 'id', 'agent', 'cron', 'tz', 'missed', 'paused'],
}

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
  OperatedQueues: object({
    queues: list(object({ queue: text, queued: count, running: count, lost: count, oldestAge: count })),
  }),
  OperatedBulk: object({
    matched: count,
    more: flag,
    changed: count,
    refused: list(object({ run: text, tenant: text, reason: text })),
  }),
  OperatedForceStop: object({ ended: flag }),
  OperatedStart: object({ run: text, isNew: flag }),
  OperatedDenial: object({ run: text, callId: text }),
  OperatedSchedules: { ...object({ schedules: list(schedule), cursor: text }), required: ['schedules'] },
  OperatedSchedule: schedule,
  OperatedRetry: { ...object({ queued: flag, refusal: text, reason: text }), required: ['queued'] },
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
