import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../../allium/src/index.ts'
import { providers } from './answering.ts'
import { type Kind, libraries, values } from './libraries.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const kinds = Object.keys(values) as Kind[]

/** Whether the model sees `{ value }` in place of the answer's schema. */
function isWrapped({ properties = {} }: Record<string, object | undefined>): boolean {
  return 'value' in properties
}

describe.each(libraries)('$name', ({ forms }) => {
  describe.each(providers)('with $name', (provider) => {
    it.each(kinds)('answers in a schema that the provider takes: %s', async (kind) => {
      const requests: Record<string, unknown>[] = []
      const value = values[kind]
      const model = provider.model(requests, (schema) => (isWrapped(schema as never) ? { value } : value))
      const { output } = await new Agent({ model, logger }).run('Hi', { output: forms[kind] })
      expect(output).toEqual(value)
      expect(requests.flatMap(provider.problems)).toEqual([])
    })

    it.each(kinds)('runs a tool whose arguments the provider takes: %s', async (kind) => {
      const requests: Record<string, unknown>[] = []
      const value = values[kind]
      for (const strict of [false, true]) {
        let args: unknown
        const execute = (given: unknown) => {
          args = given
          return 'done'
        }
        const model = provider.model(requests.splice(0), () => value)
        const tools = [{ ...forms[kind], name: 'work', description: 'Works', strict, execute }]
        const { toolCalls } = await new Agent({ model, logger, tools }).run('Hi')
        expect([args, toolCalls[0]?.result.status]).toEqual([value, 'ok'])
        expect(requests.flatMap(provider.problems)).toEqual([])
      }
    })
  })

  it('refuses arguments that do not fit', async () => {
    const model = providers[0]?.model([], () => ({ city: { is: 'Oslo' }, note: 'cold' })) as never
    const tools = [{ ...forms.object, name: 'work', description: 'Works', execute: () => 'done' }]
    const { toolCalls } = await new Agent({ model, logger, tools }).run('Hi')
    expect(toolCalls[0]?.result).toMatchObject({ status: 'error', content: expect.stringContaining('city') })
  })
})

it('tests the versions that the docs name', () => {
  const page = readFileSync(new URL('../../../../docs/concepts/schemas.md', import.meta.url), 'utf8')
  const catalog = readFileSync(new URL('../../../../pnpm-workspace.yaml', import.meta.url), 'utf8')
  const version = (name: string) => new RegExp(`^ +'?${name}'?: (?:npm:.*@)?(.*)$`, 'm').exec(catalog)?.[1]
  const rows = libraries.flatMap(({ name, installed = name }) =>
    installed === '' ? [] : `| ${name.replace(/ \d$/, '')} ${version(installed)} |`,
  )
  expect(rows.filter((row) => !page.includes(`\n${row}`))).toEqual([])
})
