import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../deploy/', import.meta.url))
const template = fileURLToPath(new URL('../../../packages/create-allium/templates/saas/', import.meta.url))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** The script of an installed command. */
function binOf(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
  return join(dirname(manifest), bin[name] ?? '')
}

test.each([
  ['dockerfilelint', 'Dockerfile'],
  ['dclint', 'compose.yaml'],
])('%s accepts %s of the example and of the template', async (linter, file) => {
  const args = linter === 'dclint' ? ['--max-warnings', '0'] : []
  for (const from of [folder, template]) await run(process.execPath, [binOf(linter), ...args, join(from, file)])
})

test('the secrets of compose.yaml are those that secrets.sh creates', () => {
  const { secrets } = parse(read('compose.yaml')) as { secrets: Record<string, { file: string }> }
  const script = read('secrets.sh')
  expect(
    Object.values(secrets).filter(
      ({ file }) => !script.includes(`> ${file.slice(2)}`) && !script.includes(`accounts.json ${file.slice(2)}`),
    ),
  ).toEqual([])
})

test('each secret that a service mounts is one that its environment reads, and no environment has a secret itself', () => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<string, { secrets?: string[]; environment?: Record<string, string> }>
  }
  for (const { secrets = [], environment = {} } of Object.values(services)) {
    const files = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.*)$/.exec(value)?.[1] ?? [])
    expect(files.sort()).toEqual([...secrets].sort())
    expect(Object.values(environment).filter((value) => /:\/\/[^/]*:[^/]*@/.test(value))).toEqual([])
  }
})

test('the unit of systemd loads each credential that its environment names', () => {
  const unit = read('allium-saas.service')
  const loaded = [...unit.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, name]) => name)
  const named = [...unit.matchAll(/%d\/(\S+)/g)].map(([, name]) => name)
  expect(named.sort()).toEqual(loaded.sort())
})
