import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../packages/config/src/index.ts'
import { type ScriptedStep, scriptedModel } from '../packages/testing/src/index.ts'

/** The samples of the manual, word for word. They need jq and python3. */
const policyCheck = `#!/bin/sh
# middleware/policy-check.sh
input=$(cat)
args=$(echo "$input" | jq -r '.toolCall.arguments // ""')
if echo "$args" | grep -q 'rm -rf'; then
echo '{"deny": "rm -rf is not allowed"}'
else
echo '{}'
fi
`
const tokenBudget = `#!/usr/bin/env python3
# middleware/token-budget.py
import json, sys
ctx = json.load(sys.stdin)
usage = ctx.get("loop", {}).get("usage", {})
total = usage.get("inputTokens", 0) + usage.get("outputTokens", 0)
if total > 100_000:
    json.dump({"stop": "token budget exceeded"}, sys.stdout)
`

/** One hook in each language: it refuses what contains "rm". */
const languages = {
  'guard.sh': `if grep -q 'rm -rf'; then echo '{"deny": "in sh"}'; fi`,
  'guard.py': `import json, sys
if 'rm -rf' in json.load(sys.stdin)['toolCall']['arguments']: print(json.dumps({'deny': 'in py' + ''.join(sys.argv[1:])}))`,
  'guard.pl': `use strict; local $/; my $in = <STDIN>; print '{"deny": "in pl"}' if $in =~ /rm -rf/;`,
  'guard.mjs': `let text = ''; for await (const chunk of process.stdin) text += chunk
if (JSON.parse(text).toolCall.arguments.includes('rm -rf')) console.log(JSON.stringify({ deny: 'in mjs' }))`,
}

async function run(hook: string, entry: string, file: string, text: string, steps: ScriptedStep[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-e2e-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, file), text)
  const config = join(root, 'allium.config.yml')
  writeFileSync(config, JSON.stringify({ agent: { middleware: { [hook]: [entry] } } }))
  const bash = { name: 'Bash', description: 'Runs', jsonSchema: { type: 'object' }, execute: () => 'ran' }
  const model = scriptedModel(steps)
  const agent = await loadConfig(config, { model, tools: [bash] })
  return { model, result: await agent.run('Go') }
}

const calls = (command: string): ScriptedStep[] => [{ toolCalls: [{ name: 'Bash', args: { command } }] }, 'Done.']

describe('the shell samples', () => {
  test.each([
    ['rm -rf /', 'rm -rf is not allowed'],
    ['ls', 'ran'],
  ])('the policy check in sh and jq, for %s', async (command, content) => {
    const { result } = await run(
      'beforeToolExecution',
      './policy-check.sh',
      'policy-check.sh',
      policyCheck,
      calls(command),
    )
    expect(result.toolCalls[0]?.result.content).toBe(content)
  })

  test.each([
    [99_000, 'completed', undefined],
    [100_001, 'stopped', 'token budget exceeded'],
  ])('the token budget in Python, after %d tokens', async (inputTokens, status, reason) => {
    const steps: ScriptedStep[] = [
      { toolCalls: [{ name: 'Bash', args: {} }], usage: { inputTokens } },
      { text: 'Done.', usage: {} },
    ]
    const { result, model } = await run(
      'afterModelResponse',
      './token-budget.py',
      'token-budget.py',
      tokenBudget,
      steps,
    )
    expect([result.status, result.reason]).toEqual([status, reason])
    expect(model.calls).toBe(status === 'stopped' ? 1 : 2)
  })
})

describe('a hook in', () => {
  test.each([
    ['sh', './guard.sh', 'guard.sh', 'in sh'],
    ['Python', './guard.py', 'guard.py', 'in py'],
    ['Python, with arguments', 'shell: python3 ./guard.py --strict "a b"', 'guard.py', 'in py--stricta b'],
    ['Perl', './guard.pl', 'guard.pl', 'in pl'],
    ['Node', 'shell: node ./guard.mjs', 'guard.mjs', 'in mjs'],
  ] as const)('%s refuses a tool call, and lets another one pass', async (_language, entry, file, reason) => {
    const refused = await run('beforeToolExecution', entry, file, languages[file], calls('rm -rf /'))
    expect(refused.result.toolCalls[0]?.result.content).toBe(reason)
    const passed = await run('beforeToolExecution', entry, file, languages[file], calls('ls'))
    expect(passed.result.toolCalls[0]?.result.content).toBe('ran')
  })
})
