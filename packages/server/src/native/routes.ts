import { acceptsStream } from '../request/accept.ts'
import { fileName, idempotencyKey, lastEventId, owner, pageQuery, sessionId } from '../request/fields.ts'
import { endOfHistory } from '../request/read-history.ts'
import { route } from '../request/route.ts'
import { described, integerText } from '../request/schema.ts'
import { approvalBody, decisionsBody, forkBody, noBody, runBody, steerBody } from './bodies.ts'

const messagesBefore = described(
  integerText(1, endOfHistory, endOfHistory),
  'The `before` of the later page. Default: the last messages.',
)

/** The native routes: what each accepts and returns. */
export const routes = {
  run: route({
    method: 'post',
    path: '/sessions/:id/runs',
    summary: 'Start a run',
    query: { owner },
    headers: { 'idempotency-key': idempotencyKey, accept: acceptsStream },
    body: runBody,
    bodyName: 'runBody',
    answers: { 200: 'Answer' },
    streams: 'onRequest',
  }),
  decisions: route({
    method: 'post',
    path: '/sessions/:id/decisions',
    summary: 'Resume a run with decisions on its pending calls',
    query: { owner },
    headers: { 'idempotency-key': idempotencyKey, accept: acceptsStream },
    body: decisionsBody,
    bodyName: 'decisionsBody',
    answers: { 200: 'Answer' },
    streams: 'onRequest',
  }),
  events: route({
    method: 'get',
    path: '/sessions/:id/events',
    summary: 'Follow the latest run of the session',
    query: { owner },
    headers: { 'last-event-id': lastEventId },
    answers: { 200: 'Events', 204: null },
    streams: 'always',
  }),
  stop: route({
    method: 'post',
    path: '/sessions/:id/stop',
    summary: 'Stop the active run',
    query: { owner },
    body: noBody,
    answers: { 202: 'Stopped' },
  }),
  steer: route({
    method: 'post',
    path: '/sessions/:id/steer',
    summary: 'Send a message to the active run',
    query: { owner },
    body: steerBody,
    bodyName: 'steerBody',
    answers: { 202: 'Steered' },
  }),
  messages: route({
    method: 'get',
    path: '/sessions/:id/messages',
    summary: 'List the messages of the session',
    query: { owner, before: messagesBefore, limit: integerText(1, 200, 200) },
    answers: { 200: 'Messages' },
  }),
  file: route({
    method: 'get',
    path: '/sessions/:id/files/:file',
    summary: 'Download an image or file of the history',
    params: { id: sessionId, file: fileName },
    query: { owner },
    answers: { 200: 'File' },
  }),
  usage: route({
    method: 'get',
    path: '/sessions/:id/usage',
    summary: 'Get the usage of the session',
    query: { owner },
    answers: { 200: 'SessionUsage' },
  }),
  state: route({
    method: 'get',
    path: '/sessions/:id/state',
    summary: 'Get the exposed state of the session',
    query: { owner },
    answers: { 200: 'SessionState' },
  }),
  fork: route({
    method: 'post',
    path: '/sessions/:id/fork',
    summary: 'Fork the session into a new one',
    query: { owner },
    body: forkBody,
    bodyName: 'forkBody',
    answers: { 201: 'Forked' },
  }),
  sessions: route({
    method: 'get',
    path: '/sessions',
    summary: 'List the sessions of the caller',
    query: { ...pageQuery, owner },
    answers: { 200: 'Sessions' },
  }),
  delete: route({
    method: 'delete',
    path: '/sessions/:id',
    summary: 'Delete a session',
    query: { owner },
    answers: { 204: null },
  }),
  approvals: route({
    method: 'get',
    path: '/approvals',
    summary: 'List the pending calls that the caller may decide',
    query: pageQuery,
    answers: { 200: 'Approvals' },
  }),
  decide: route({
    method: 'post',
    path: '/approvals',
    summary: 'Decide a pending call by its token',
    body: approvalBody,
    bodyName: 'approvalBody',
    answers: { 202: 'Decided' },
  }),
  agents: route({
    method: 'get',
    path: '/agents',
    summary: 'List the agents that the caller may use',
    answers: { 200: 'Agents' },
  }),
}
