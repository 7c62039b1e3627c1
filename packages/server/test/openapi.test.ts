import { defineTool } from '@allium/core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { createApp } from '../src/app/server.ts'
import { createHost } from '../src/host/host.ts'
import { agentOf, ask, listen, principal } from './kit.ts'

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>>
  components: object
}

const documentOf = async (url: string) => (await (await fetch(`${url}/openapi.json`)).json()) as Document

test('the document is one of OpenAPI 3.1, and has the `base` of its routes', async () => {
  const { url } = await listen(agentOf([]), { base: '/ai' })
  const document = await documentOf(`${url}/ai`)
  expect(await new Validator().validate(document as never)).toMatchObject({ valid: true })
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/ai' }] })
})

test('with every protocol on the document is one of OpenAPI 3.1, and has their bodies', async () => {
  const { url } = await listen(agentOf([]), { uiStream: 7, openai: true, agui: true, mcp: { elicitation: true } })
  const document = await documentOf(url)
  expect(await new Validator().validate(document as never)).toMatchObject({ valid: true })
  const { schemas } = document.components as { schemas: object }
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['runBody', 'chatBody', 'aguiBody', 'completionBody', 'responseBody']),
  )
})

test('what the document says of a body is what the parser takes', async () => {
  const { url } = await listen(agentOf([]))
  const { components } = await documentOf(url)
  const fits = new Ajv2020({ strict: false }).compile({ $ref: '#/components/schemas/runBody', components })
  const tool = { name: 'locate', description: 'Where', jsonSchema: {} }
  for (const body of [
    { input: '' },
    { input: [] },
    { input: 'Hi', more: 1 },
    { input: [{ type: 'text' }] },
    { input: 'Hi', output: { type: 'array' } },
    { input: 'Hi', clientTools: [{ ...tool, name: 'a b' }] },
    { input: 'Hi', clientTools: Array.from({ length: 129 }, () => tool) },
    {},
  ]) {
    const { status } = await ask(`${url}/sessions/a/runs`, { body })
    expect([body, fits(body), status]).toEqual([body, false, 400])
  }
  expect(fits({ input: [{ type: 'text', text: 'Hi' }], clientTools: [tool], output: { type: 'object' } })).toBe(true)
})

test('each native route of the router is in the document, and none besides', async () => {
  const { url } = await listen(agentOf([]))
  const { paths } = await documentOf(url)
  const told = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((one) => `${one} ${path}`))
  const agent = agentOf([])
  const { routes } = await createApp(createHost(new Map([[agent.name, agent]]), { principal }))
  const there = routes
    .filter(({ method, path }) => method !== 'ALL' && !['/metrics', '/openapi.json'].includes(path))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(told.sort()).toEqual(there.sort())
})

const call = { toolCalls: [{ name: 'refund', args: { cents: 5 } }] }
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Refunded.',
})

test('the routes answer as the document says', async () => {
  const { url } = await listen(agentOf(['Hello.', call, 'Done.'], { tools: [refund] }))
  const { paths, components } = await documentOf(url)
  const ajv = new Ajv2020({ strict: false })
  const check = async (method: string, path: string, body?: unknown) => {
    const asked = { method: method.toUpperCase(), ...(body !== undefined && { body }) }
    const response = await ask(`${url}${path.replace('{id}', 'a')}`, asked)
    const told = paths[path]?.[method]?.responses[response.status]
    expect([method, path, response.status, told === undefined]).toEqual([method, path, response.status, false])
    const schema = told?.content?.['application/json']?.schema
    if (schema === undefined) return undefined
    const value = (await response.json()) as Record<string, unknown>
    ajv.validate({ ...schema, components }, value)
    expect([path, ajv.errors]).toEqual([path, null])
    return value
  }
  for (const path of ['/agents', '/healthz', '/readyz']) await check('get', path)
  await check('post', '/sessions/{id}/runs', { input: 'Hi' })
  const { turnId, pending } = (await check('post', '/sessions/{id}/runs', { input: 'Refund it.' })) as never
  expect((await check('get', '/approvals'))?.approvals).toHaveLength(1)
  const [{ callId }] = pending as [{ callId: string }]
  await check('post', '/sessions/{id}/decisions', { decisions: { [callId]: { approve: true } } })
  for (const path of ['/sessions', '/sessions/{id}/messages', '/sessions/{id}/usage', '/sessions/{id}/state'])
    await check('get', path)
  await check('get', '/sessions/{id}/events')
  await check('post', '/sessions/{id}/fork', { id: 'b', at: turnId })
  await check('delete', '/sessions/{id}')
})

test('a refusal is the Problem of the document', async () => {
  const { url } = await listen(agentOf([]))
  const { components } = await documentOf(url)
  const ajv = new Ajv2020({ strict: false })
  for (const response of [await ask(`${url}/sessions/a/stop`, { body: {} }), await ask(`${url}/agents`, { as: '' })])
    expect(ajv.validate({ $ref: '#/components/schemas/Problem', components }, await response.json())).toBe(true)
})
