import { bodies } from './bodies.ts'
import { ref, schemas } from './openapi-schemas.ts'

interface Route {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly summary: string
  readonly body?: keyof typeof bodies
  /** The schema of each answer by status; null for none. */
  readonly answers: Readonly<Record<number, string | null>>
  /** It answers with a stream where that is asked for, or always. */
  readonly streams?: 'asked' | 'always'
  readonly parameters?: readonly object[]
  /** Nobody needs to be signed in. */
  readonly open?: true
}

const key = {
  name: 'idempotency-key',
  in: 'header',
  description: 'Who asks again with it gets the same run.',
  schema: { type: 'string', minLength: 1, maxLength: 256 },
}
const lastEvent = {
  name: 'last-event-id',
  in: 'header',
  description: 'The last event that the reader has.',
  schema: { type: 'string' },
}
const owner = {
  name: 'owner',
  in: 'query',
  description: 'Whose session it is, for whom `mayRead` lets read.',
  schema: { type: 'string' },
}
const paged = [
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
  { name: 'cursor', in: 'query', schema: { type: 'string' } },
]

/** Those that stand at the root and under each agent's name. */
const ofAgents: readonly Route[] = [
  {
    method: 'post',
    path: '/sessions/{id}/runs',
    summary: 'Begins a run',
    body: 'run',
    answers: { 200: 'Answer' },
    streams: 'asked',
    parameters: [key],
  },
  {
    method: 'post',
    path: '/sessions/{id}/decisions',
    summary: 'Goes on with decisions',
    body: 'decisions',
    answers: { 200: 'Answer' },
    streams: 'asked',
    parameters: [key],
  },
  {
    method: 'get',
    path: '/sessions/{id}/events',
    summary: 'Follows the last run',
    answers: { 200: 'Events', 204: null },
    streams: 'always',
    parameters: [lastEvent],
  },
  { method: 'post', path: '/sessions/{id}/stop', summary: 'Stops what runs', answers: { 202: 'Stopped' } },
  {
    method: 'post',
    path: '/sessions/{id}/steer',
    summary: 'Says something to what runs',
    body: 'steer',
    answers: { 202: 'Steered' },
  },
  {
    method: 'get',
    path: '/sessions/{id}/messages',
    summary: 'The history as messages of a page',
    answers: { 200: 'Messages' },
    parameters: [owner],
  },
  {
    method: 'get',
    path: '/sessions/{id}/usage',
    summary: 'What the session has used',
    answers: { 200: 'SessionUsage' },
    parameters: [owner],
  },
  {
    method: 'get',
    path: '/sessions/{id}/state',
    summary: 'What the server shows of the state of the session',
    answers: { 200: 'SessionState' },
    parameters: [owner],
  },
  {
    method: 'post',
    path: '/sessions/{id}/fork',
    summary: 'Begins a session with what this one had',
    body: 'fork',
    answers: { 201: 'Forked' },
  },
  {
    method: 'get',
    path: '/sessions',
    summary: 'The sessions of who asks',
    answers: { 200: 'Sessions' },
    parameters: [...paged, owner],
  },
  { method: 'delete', path: '/sessions/{id}', summary: 'Deletes a session', answers: { 204: null } },
  {
    method: 'get',
    path: '/approvals',
    summary: 'The calls that wait for who asks',
    answers: { 200: 'Approvals' },
    parameters: paged,
  },
  {
    method: 'post',
    path: '/approvals',
    summary: 'Decides a call by its token',
    body: 'approval',
    answers: { 202: 'Decided' },
  },
]

const ofServers: readonly Route[] = [
  { method: 'get', path: '/agents', summary: 'The agents that who asks may use', answers: { 200: 'Agents' } },
  { method: 'get', path: '/healthz', summary: 'Whether the process lives', answers: { 200: 'Health' }, open: true },
  {
    method: 'get',
    path: '/readyz',
    summary: 'Whether it takes new runs',
    answers: { 200: 'Health', 503: 'Health' },
    open: true,
  },
]

/** The native routes as an OpenAPI 3.1 document: https://spec.openapis.org/oas/v3.1.1 */
export function openapi(base: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const at of ['', '/agents/{agent}'])
    for (const route of ofAgents) (paths[`${at}${route.path}`] ??= {})[route.method] = operation(route, at)
  for (const route of ofServers) (paths[route.path] ??= {})[route.method] = operation(route, '')
  return {
    openapi: '3.1.0',
    info: { title: 'Agents', version: '1', description: 'Runs, sessions and decisions of agents.' },
    servers: [{ url: base }],
    security: [{ signedIn: [] }],
    paths,
    components: {
      schemas: {
        ...schemas,
        ...Object.fromEntries(Object.entries(bodies).map(([name, body]) => [`${name}Body`, body])),
      },
      securitySchemes: {
        signedIn: { type: 'http', scheme: 'bearer', description: 'As the server has it: see `principal`.' },
      },
    },
  }
}

function operation(route: Route, at: string): object {
  const { method, path, summary, body, answers, open, parameters = [] } = route
  const named = [...`${at}${path}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => inPath(name as string))
  return {
    summary,
    operationId: [method, ...`${at}${path}`.split('/').filter((part) => /^\w/.test(part)), at && 'named']
      .filter(Boolean)
      .join('_'),
    parameters: [...named, ...parameters],
    ...(body !== undefined && { requestBody: { required: true, content: content('application/json', `${body}Body`) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, name]) => [status, answer(route, name)])),
      default: { description: 'It was refused.', content: content('application/json', 'Problem') },
    },
    ...(open && { security: [] }),
  }
}

function inPath(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function answer({ summary, streams }: Route, name: string | null): object {
  if (name === null) return { description: 'Nothing.' }
  const events = content('text/event-stream', 'Events')
  const whole = content('application/json', name)
  return {
    description: `${summary}.`,
    content: streams === 'always' ? events : streams ? { ...whole, ...events } : whole,
  }
}

function content(type: string, schema: string): Record<string, object> {
  return { [type]: { schema: ref(schema) } }
}
