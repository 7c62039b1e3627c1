import { object } from '../request/containers.ts'
import { id, pageQuery } from '../request/fields.ts'
import { route } from '../request/route.ts'
import { described, flag, integer, integerText, oneOf, optional, text } from '../request/schema.ts'

const name = (description: string) => described(optional(text({ min: 1, max: 256 })), description)
const tenant = name('The tenant. Default: all that the caller may see.')
const params = { run: id }
const statuses = [
  'queued',
  'running',
  'lost',
  'completed',
  'stopped',
  'suspended',
  'blocked',
  'aborted',
  'failed',
] as const
const reason = text({ min: 1, max: 2000 })

const longestAge = 100 * 365 * 86_400_000

/** The conditions by which runs are chosen, besides their age. */
const conditions = {
  tenant,
  status: described(
    optional(oneOf(...statuses)),
    'The status of the runs. The lease of a lost run ended, and no process has taken it over.',
  ),
  agent: name('The name of the agent.'),
  version: name('The version of the agent.'),
  queue: name('The queue of the runs.'),
  owner: name('The owner of the runs.'),
  session: name('The id of the session.'),
  code: name('The error code that the runs ended with.'),
}

const change = object({ reason: optional(reason) })
const ofSchedule = { tenant, owner: name('The owner, if several have a schedule with this id.') }

/** The routes for operators, with their parameters and answers. */
export const routes = {
  list: route({
    method: 'get',
    path: '/operations/runs',
    summary: 'List durable runs, newest first',
    query: {
      ...pageQuery,
      ...conditions,
      olderThan: described(integerText(0, longestAge, 0), 'Only runs that did not change for this many milliseconds.'),
    },
    answers: { 200: 'OperatedRuns' },
  }),
  summary: route({
    method: 'get',
    path: '/operations/summary',
    summary: 'Count durable runs by status, agent, version and queue, and failures by code',
    query: { tenant },
    answers: { 200: 'OperatedSummary' },
  }),
  queues: route({
    method: 'get',
    path: '/operations/queues',
    summary: 'Count the durable runs of each queue that have not ended',
    query: { tenant },
    answers: { 200: 'OperatedQueues' },
  }),
  bulk: route({
    method: 'post',
    path: '/operations/runs/bulk',
    summary: 'Count or change up to 1,000 durable runs that match a filter',
    body: object({
      action: oneOf('stop', 'forceStop', 'retry', 'migrate'),
      where: object({ ...conditions, olderThan: optional(integer(0, longestAge)) }),
      dryRun: optional(flag()),
      to: optional(text({ min: 1, max: 2000 })),
      reason: optional(reason),
    }),
    answers: { 200: 'OperatedBulk' },
  }),
  show: route({
    method: 'get',
    path: '/operations/runs/:run',
    summary: 'Get a durable run with its timeline',
    params,
    query: { tenant, limit: integerText(1, 1000, 500) },
    answers: { 200: 'OperatedRun' },
  }),
  stop: route({
    method: 'post',
    path: '/operations/runs/:run/stop',
    summary: 'Stop a durable run at its next step',
    params,
    query: { tenant },
    body: object({ reason: optional(reason) }),
    answers: { 202: 'OperatedStop' },
  }),
  forceStop: route({
    method: 'post',
    path: '/operations/runs/:run/force-stop',
    summary: 'End a durable run at once, also if its process hangs',
    params,
    query: { tenant },
    body: change,
    answers: { 202: 'OperatedForceStop' },
  }),
  retry: route({
    method: 'post',
    path: '/operations/runs/:run/retry',
    summary: 'Queue a failed durable run again',
    params,
    query: { tenant },
    body: change,
    answers: { 202: 'OperatedRetry' },
  }),
  startAgain: route({
    method: 'post',
    path: '/operations/runs/:run/start-again',
    summary: 'Start a new durable run with the request of one that failed or was aborted',
    params,
    query: { tenant },
    body: object({ reason: optional(reason), repeatEffects: optional(flag()) }),
    answers: { 202: 'OperatedStart' },
  }),
  deny: route({
    method: 'post',
    path: '/operations/runs/:run/deny',
    summary: 'Deny a call of a durable run that waits for approval',
    params,
    query: { tenant },
    body: object({ reason, callId: optional(text({ min: 1, max: 2000 })) }),
    answers: { 202: 'OperatedDenial' },
  }),
  migrate: route({
    method: 'post',
    path: '/operations/runs/:run/migrate',
    summary: 'Move a durable run to the version of this process if its recorded steps fit',
    params,
    query: { tenant },
    body: object({ to: text({ min: 1, max: 2000 }), dryRun: optional(flag()), reason: optional(reason) }),
    answers: { 200: 'OperatedMigration' },
  }),
  export: route({
    method: 'post',
    path: '/operations/runs/:run/export',
    summary: 'Get a durable run with its content, which the audit records',
    params,
    query: { tenant },
    body: object({ reason }),
    answers: { 200: 'OperatedExport' },
  }),
  schedules: route({
    method: 'get',
    path: '/operations/schedules',
    summary: 'List schedules by tenant, owner and id',
    query: {
      ...pageQuery,
      tenant,
      owner: name('The owner of the schedules.'),
      agent: name('The name of the agent.'),
      id: name('The id of the schedules.'),
      paused: described(optional(oneOf('true', 'false')), 'Only paused schedules, or only active ones.'),
    },
    answers: { 200: 'OperatedSchedules' },
  }),
  pause: route({
    method: 'post',
    path: '/operations/schedules/:schedule/pause',
    summary: 'Stop the ticks of a schedule',
    params: { schedule: id },
    query: ofSchedule,
    body: change,
    answers: { 200: 'OperatedSchedule' },
  }),
  resume: route({
    method: 'post',
    path: '/operations/schedules/:schedule/resume',
    summary: 'Continue a schedule with its next tick from now on',
    params: { schedule: id },
    query: ofSchedule,
    body: change,
    answers: { 200: 'OperatedSchedule' },
  }),
  run: route({
    method: 'post',
    path: '/operations/schedules/:schedule/run',
    summary: 'Make a schedule due now',
    params: { schedule: id },
    query: ofSchedule,
    body: change,
    answers: { 200: 'OperatedSchedule' },
  }),
}
