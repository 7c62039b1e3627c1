import { expect, test } from 'vitest'
import { type AgentOptions, AlliumError, type JsonSchema, type Middleware } from '../src/index.ts'
import type { UntrustedSchema } from '../src/internal.ts'
import { build, failure } from './kit.ts'

const jsonSchema = { type: 'object', title: 'from the client' }
const locate = { name: 'locate', description: 'Where the user is', jsonSchema }
const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }

/** Refuses all arguments, and notes the schemas that it was given. */
function refusing(unchecked: readonly string[] = []) {
  const schemas: JsonSchema[] = []
  const untrustedSchema = (schema: JsonSchema): UntrustedSchema => {
    schemas.push(schema)
    return { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) }, unchecked }
  }
  return { schemas, untrustedSchema }
}

const fails = () => expect.fail('A schema of a client reached `validate`.')

async function asked(options: Partial<AgentOptions>) {
  const warnings: string[] = []
  const logger = { warn: (line: string) => warnings.push(line), error() {} }
  const { agent, model } = build([call, 'One.', call, 'Two.'], [], { logger, ...options } as never)
  const first = await agent.run('Hi', { clientTools: [locate] })
  return { agent, model, warnings, first }
}

test("Arguments of a client's tool are checked by `untrustedSchema`, and never by `validate`", async () => {
  const { schemas, untrustedSchema } = refusing()
  const { model, first } = await asked({ validate: fails, untrustedSchema })
  expect(first.status).toBe('completed')
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('"content":"no"')
  expect(schemas[0]).toEqual(jsonSchema)
})

test('Without `untrustedSchema` they are not checked, which is reported once', async () => {
  const { agent, warnings, first } = await asked({ validate: fails })
  await agent.run('Hi', { clientTools: [locate] })
  expect(first.pending).toMatchObject([{ args: { exact: true } }])
  expect(warnings).toEqual([expect.stringContaining('are not checked')])
})

test('Parts of a schema that are not checked are reported once, and the tool is not refused', async () => {
  const { untrustedSchema } = refusing(['the keyword "dependencies"'])
  const { agent, model, warnings } = await asked({ untrustedSchema })
  await agent.run('Hi', { clientTools: [locate] })
  expect(warnings).toEqual([expect.stringMatching(/"locate" is checked in part.*"dependencies"/)])
  expect(model.requests[0]?.tools[0]?.jsonSchema).toEqual(jsonSchema)
})

test('A schema that is refused names the tool, before the model is called', async () => {
  const untrustedSchema = () => {
    throw new AlliumError('schema.limits', 'It is too large.')
  }
  const { agent, model } = build([], [], { untrustedSchema })
  const error = await failure(agent.run('Hi', { clientTools: [locate] }))
  expect([error.code, error.message]).toEqual(['schema.limits', expect.stringContaining('"locate" is refused')])
  expect(model.requests).toEqual([])
})

test('A check that cannot be loaded refuses the run, before the model is called', async () => {
  const untrustedSchema = () => Promise.reject(new Error('The package is not there.'))
  const { agent, model } = build([], [], { untrustedSchema })
  expect((await failure(agent.run('Hi', { clientTools: [locate] }))).message).toBe('The package is not there.')
  expect(model.requests).toEqual([])
})

test('Arguments that a human edits are checked in the same way', async () => {
  const untrustedSchema = (): UntrustedSchema => ({
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        (value as { exact?: unknown }).exact === true ? { value } : { issues: [{ message: 'no' }] },
    },
    unchecked: [],
  })
  const ask: Middleware = { name: 'ask', tool: (ctx, next) => (ctx.approval ? next() : ctx.suspend()) }
  const { agent } = build([call, 'Done.'], [ask], { untrustedSchema, validate: fails })
  const session = agent.session()
  await session.run('Hi', { clientTools: [locate] })
  expect((await failure(session.resume({ c1: { args: { exact: 1 } } }))).message).toContain('do not fit')
})
