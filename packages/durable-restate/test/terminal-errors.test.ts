import { AlliumError } from '@allium/core'
import { TerminalError } from '@restatedev/restate-sdk'
import { expect, it } from 'vitest'
import { toRestateError } from '../src/terminal-errors.ts'

it('what is refused by design is final, with its code; what may pass is asked again', () => {
  const final = ['approval.unknown', 'session.not_found', 'run.options', 'message.invalid', 'journal.diverged'] as const
  for (const code of final) {
    const told = toRestateError(new AlliumError(code, 'No.'))
    expect(told).toBeInstanceOf(TerminalError)
    expect((told as Error).message).toContain(code)
  }
  for (const code of ['session.busy', 'store.unavailable', 'store.fenced'] as const)
    expect(toRestateError(new AlliumError(code, 'Later.'))).not.toBeInstanceOf(TerminalError)
})
