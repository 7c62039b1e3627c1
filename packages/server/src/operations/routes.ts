import { object } from '../request/containers.ts'
import { id, pageQuery } from '../request/fields.ts'
import { route } from '../request/route.ts'
import { described, flag, integerText, oneOf, optional, text } from '../request/schema.ts'

const name = (description: string) => described(optional(text({ min: 1, max: 256 })), description)
const tenant = name('The tenant. Default: all that the caller may see.')
const params = { run: id }
const statuses = ['queued', 'running', 'completed', 'stopped', 'suspended', 'blocked', 'aborted', 'failed'] as const
const reason = text({ min: 1, max: 2000 })

/** The routes for operators, with their parameters and answers. */
export const routes = {
  list: route({
    method: 'get',
    path: '/operations/runs',
    summary: 'List durable runs, newest first',
    query: {
      ...pageQuery,
      tenant,
      status: described(optional(oneOf(...statuses)), 'The status of the runs.'),
      agent: name('The name of the agent.'),
      version: name('The version of the agent.'),
      code: name('The error code that the runs ended with.'),
      olderThan: described(
        integerText(0, 100 * 365 * 86_400_000, 0),
        'Only runs that did not change for this many milliseconds.',
      ),
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
  retry: route({
    method: 'post',
    path: '/operations/runs/:run/retry',
    summary: 'Queue a failed durable run again',
    params,
    query: { tenant },
    body: object({ reason: optional(reason) }),
    answers: { 202: 'OperatedRetry' },
  }),
  migrate: route({
    method: 'post',
    path: '/operations/runs/:run/migrate',
    summary: 'Move a durable run to the version of this process if its recorded steps fit',
    params,
    query: { tenant },
    body: object({ to: text({ min: 1, max: 2000 }), check: optional(flag()), reason: optional(reason) }),
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
}
