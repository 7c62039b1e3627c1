import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { run } from './runtimes.ts'

const app = inject('app')

it("the README's example runs in a folder where the packages are installed from their tarballs", async () => {
  const [, example, output] = /```ts\n([\s\S]+?)```[\s\S]+?```text output\n([\s\S]+?)```/.exec(
    readFileSync('README.md', 'utf8'),
  ) as RegExpExecArray
  writeFileSync(join(app, 'readme.js'), example as string)
  expect(await run('Node (this one)', ['readme.js'], app)).toBe(output)
})

it('every tarball holds the files that its package.json names', () => {
  const scope = join(app, 'node_modules/@allium')
  const packages = [...readdirSync(scope).map((name) => join(scope, name)), join(app, 'node_modules/allium')]
  const missing = packages.flatMap((dir) => {
    const { exports = {}, imports = {}, bin = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
    const named = [...JSON.stringify([exports, imports, bin]).matchAll(/"(\.\/dist\/[^"]+)"/g)]
    return named.map(([, file]) => join(dir, file as string)).filter((file) => !existsSync(file))
  })
  expect([packages.length > 20, missing]).toEqual([true, []])
})

describe('a classic mistake is named, with its mend:', () => {
  let told: Record<string, { code?: string; message: string }>

  beforeAll(async () => {
    cpSync('e2e/app', app, { recursive: true })
    told = JSON.parse(await run('Node (this one)', ['mistakes.js'], app))
  })

  it.each([
    ['an option with a typo', 'layer.config', /limt.*Did you mean "limit"\? Available: /],
    ['a tool of the AI SDK', 'tool.invalid', /A tool is \{ name, description, schema, execute \}/],
    [
      'a provider of the AI SDK as the model',
      'agent.options',
      /a provider of the AI SDK was given: pass fromAiSdk\(provider\("…"\)\)/,
    ],
    ['a plain object as a schema', 'tool.invalid', /"a" has as its schema an object.*write z\.object\(\{ a: … \}\)/],
    ['tools as a map', 'agent.options', /The option tools must be a list, not an object\. Write tools: \[add\]/],
    [
      'a factory that is not called',
      'layer.config',
      /"model:retry" was given to use\(\) uncalled.*\.use\(model\.retry\(/,
    ],
    ['a provider with a typo', 'provider.not_installed', /"opnai" is not known.*Did you mean "openai"\?/],
    ['next() not awaited', 'layer.floating_next', /"hasty" \(turn\).*Write "await next\(\)" or "return next\(\)"/],
    ['next() twice', 'layer.next_twice', /"twice" \(turn\) called next\(\) twice\. .*so keep its first result/],
    ['no key', 'provider.key_missing', /"openai": set the environment variable OPENAI_API_KEY/],
    [
      'no tenant for a budget of tenants',
      'session.principal',
      /has none.*agent\.session\(\{ principal: \{ tenantId \} \}\)/,
    ],
  ])('%s', (mistake, code, message) => {
    expect(told[mistake]?.message).toMatch(message)
    if (code !== undefined) expect(told[mistake]?.code).toBe(code)
  })
})
