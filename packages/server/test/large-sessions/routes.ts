import { responseId } from '../../src/openai/response-id.ts'

/** A request to a route, about a session of many turns. */
export interface RouteRequest {
  readonly route: string
  readonly path: string
  readonly body?: unknown
  readonly method?: string
  /** The status of an answer. @default 200 */
  readonly status?: number
}

/** Returns a request for each route that reads or runs a stored session, with the content of its last turn, and of its first. */
export function routeRequests(id: string, turns: number): RouteRequest[] {
  const file = `${turns}-${(turns - 1) * 2}-1`
  const session = `/sessions/${id}`
  const input = [{ role: 'user', content: 'Hi' }]
  return [
    { route: 'GET /sessions', path: '/sessions' },
    { route: 'GET /approvals', path: '/approvals' },
    { route: 'GET /agents', path: '/agents' },
    { route: 'GET /sessions/:id/messages', path: `${session}/messages` },
    { route: 'GET /sessions/:id/messages', path: `${session}/messages?before=4&limit=2` },
    { route: 'GET /sessions/:id/files/:file', path: `${session}/files/${file}`, status: id === 'images' ? 200 : 404 },
    { route: 'GET /sessions/:id/files/:file', path: `${session}/files/1-0-1`, status: id === 'images' ? 200 : 404 },
    { route: 'GET /sessions/:id/usage', path: `${session}/usage` },
    { route: 'GET /sessions/:id/state', path: `${session}/state` },
    { route: 'GET /sessions/:id/events', path: `${session}/events`, status: 204 },
    { route: 'POST /sessions/:id/stop', path: `${session}/stop`, body: {}, status: 409 },
    { route: 'POST /sessions/:id/steer', path: `${session}/steer`, body: { message: 'Hi' }, status: 409 },
    { route: 'POST /sessions/:id/fork', path: `${session}/fork`, body: {}, status: 201 },
    { route: 'POST /sessions/:id/fork', path: `${session}/fork`, body: { at: 't1' }, status: 201 },
    { route: 'POST /sessions/:id/decisions', path: `${session}/decisions`, body: { decisions: {} }, status: 400 },
    { route: 'GET /chat/:id/stream', path: `/chat/${id}/stream`, status: 204 },
    { route: 'POST /chat/:id/stop', path: `/chat/${id}/stop`, body: {}, status: 409 },
    { route: 'POST /chat/:id/steer', path: `/chat/${id}/steer`, body: { message: 'Hi' }, status: 409 },
    { route: 'GET /v1/models', path: '/v1/models' },
    { route: 'GET /v1/responses/:id', path: `/v1/responses/${responseId({ sessionId: id, turnId: 't1' })}` },
    { route: 'POST /v1/chat/completions', path: '/v1/chat/completions', body: { model: 'agent', messages: input } },
    { route: 'GET /inspect', path: '/inspect' },
    { route: 'GET /inspect/sessions', path: '/inspect/sessions' },
    { route: 'GET /inspect/usage', path: '/inspect/usage' },
    { route: 'GET /inspect/sessions/:id/turns', path: `/inspect/sessions/${id}/turns` },
    { route: 'GET /inspect/sessions/:id/turns', path: `/inspect/sessions/${id}/turns?before=3` },
  ]
}

/** Returns a request for each route that starts a run in a stored session. */
export function runRequests(id: string): RouteRequest[] {
  const previous = responseId({ sessionId: id, turnId: 't1' })
  const parts = [{ type: 'text', text: 'Hi' }]
  const agui = { threadId: id, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }], state: {} }
  return [
    { route: 'POST /sessions/:id/runs', path: `/sessions/${id}/runs`, body: { input: 'Hi' } },
    { route: 'POST /chat', path: '/chat', body: { id, messages: [{ id: 'm', role: 'user', parts }] } },
    { route: 'POST /agui', path: '/agui', body: { ...agui, tools: [], context: [], forwardedProps: {} } },
    {
      route: 'POST /v1/responses',
      path: '/v1/responses',
      body: { model: 'agent', input: 'Hi', previous_response_id: previous },
    },
  ]
}
