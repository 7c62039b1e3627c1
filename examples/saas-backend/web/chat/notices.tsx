import type { ReactNode } from 'react'
import { codeOf, sentenceOf } from '../shared/problems.ts'
import type { Conversation } from './use-conversation.ts'

/** Explains a problem to the user, with the next step. */
export function Notices({ of, isStopped }: { of: Conversation; isStopped: boolean }) {
  const { messages, busy, lost, unsent, problem, retry, dismiss } = of
  const isUnsent = unsent.hasFailed === true && unsent.draft !== ''
  const isUnanswered = !busy && messages.at(-1)?.role === 'user'
  const canAskAgain = isUnanswered && !isUnsent && isWorthRetrying(problem)
  const again = <Button act={retry}>Ask again</Button>
  return (
    <>
      {isStopped && !busy && !isUnanswered && <Notice text="This answer was stopped." />}
      {lost && <Notice text="The connection was lost. Reconnecting…" />}
      {isUnsent && (
        <Notice text="Your message was not sent. It is still in the message box.">
          <Button act={retry}>Retry</Button>
        </Notice>
      )}
      {problem && (
        <Notice isError text={sentenceOf(problem)}>
          {canAskAgain && again}
          <Button act={dismiss}>Dismiss</Button>
        </Notice>
      )}
      {isUnanswered && !problem && !lost && !isUnsent && <Notice text="This message was not answered.">{again}</Notice>}
    </>
  )
}

/** A retry does not help if the budget is used up or the session has expired. */
function isWorthRetrying(problem: Error | undefined): boolean {
  const code = problem && codeOf(problem)
  return code !== 'guard.budget' && code !== 'request.principal'
}

interface NoticeProps {
  text: string
  isError?: boolean
  children?: ReactNode
}

function Notice({ text, isError = false, children }: NoticeProps) {
  return (
    <div className={isError ? 'notice error' : 'notice'} role={isError ? 'alert' : 'status'}>
      <span>{text}</span>
      {children}
    </div>
  )
}

function Button({ act, children }: { act(): unknown; children: string }) {
  return (
    <button type="button" className="plain" onClick={() => void act()}>
      {children}
    </button>
  )
}
