import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const code = `
import { Agent, memoryLedger } from 'allium'
import { createResolver } from 'allium/ai-sdk'
import * as guard from 'allium/guard'
import * as models from 'allium/model'
import * as observe from 'allium/observe'
import { scriptedModel } from 'allium/testing'
import * as tools from 'allium/tools'
declare const env: { LIMIT?: number; NAME?: string; KEY?: string; SIGNAL?: AbortSignal }
const agent = new Agent({ model: scriptedModel(['hi']), name: env.NAME, maxSteps: env.LIMIT, instructions: env.NAME, settings: undefined })
  .use(guard.budget({ limit: 1, warnAt: env.LIMIT, window: undefined, ledger: memoryLedger({ maxAccounts: env.LIMIT }) }))
  .use(guard.timeout({ model: env.LIMIT, turn: 1 }))
  .use(models.retry({ attempts: env.LIMIT }))
  .use(observe.usage({ prices: undefined }))
  .use(tools.truncate({ maxLength: env.LIMIT }))
void agent.session({ id: env.NAME, metadata: undefined }).run('hi', { signal: env.SIGNAL, idempotencyKey: env.KEY, maxSteps: env.LIMIT })
void createResolver({ providers: undefined })
`

test('options take undefined where exactOptionalPropertyTypes is on', { timeout: 60_000 }, () => {
  const file = join(root, 'packages/allium/test/exact-options.program.ts')
  const base = ts.readConfigFile(join(root, 'scripts/tsconfig.base.json'), ts.sys.readFile).config as object
  const { options } = ts.parseJsonConfigFileContent({ ...base, files: [] }, ts.sys, root)
  const exact = { ...options, exactOptionalPropertyTypes: true }
  const host = ts.createCompilerHost(exact)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === file || fileExists(name)
  host.getSourceFile = (name, version) =>
    name === file ? ts.createSourceFile(name, code, version) : getSourceFile(name, version)
  const program = ts.createProgram([file], exact, host)
  const said = program.getSemanticDiagnostics(program.getSourceFile(file))
  expect(said.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})
