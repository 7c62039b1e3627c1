import { type FormEvent, useState } from 'react'
import { ask } from '../shared/api.ts'
import { sentenceOf } from '../shared/problems.ts'

/** Shows the content of a run after the admin has entered a reason. The audit records both. */
export function RunContent({ path }: { path: string }) {
  const [content, setContent] = useState<unknown>()
  const [problem, setProblem] = useState<string>()
  const read = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const reason = new FormData(event.currentTarget).get('reason')
    setProblem(undefined)
    await ask(`${path}/content`, { body: { reason } }).then(setContent, (error) => setProblem(sentenceOf(error)))
  }
  if (content !== undefined)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach content that scrolls
      <section className="scrolls tall" tabIndex={0} aria-label="Messages">
        <pre className="content">{JSON.stringify(content, undefined, 2)}</pre>
      </section>
    )
  return (
    <form className="decide" onSubmit={read}>
      <label>
        Reason to read it{' '}
        <input name="reason" required maxLength={2000} placeholder="Such as a ticket. The audit records it." />
      </label>
      <button type="submit">Read the messages</button>
      {problem && (
        <p className="error-text" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
