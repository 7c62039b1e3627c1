import { evaluate } from '@allium/evals'
import { beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.stubEnv('OPENAI_API_KEY', ''))

test.each([
  ['agent', () => import('../templates/agent/evals/agent.eval.ts')],
  ['saas', () => import('../templates/saas/evals/assistant.eval.ts')],
])('the evaluation of the template "%s" passes without a key', async (_, load) => {
  const warn = vi.spyOn(console, 'warn')
  const { default: definition } = await load()
  const report = await evaluate(definition as Parameters<typeof evaluate>[0])
  expect(report.cases).toHaveLength(20)
  expect(report.verdict).toBe('pass')
  expect(warn.mock.calls).toEqual([])
})
