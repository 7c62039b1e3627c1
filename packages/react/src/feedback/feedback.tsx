import { type FormEvent, type ReactNode, useState } from 'react'
import { englishFeedbackLabels, type FeedbackLabels } from './labels.ts'
import type { SessionFeedback } from './use-feedback.ts'

export interface FeedbackProps {
  /** An answer of the session. */
  message: { readonly id: string; readonly role: string; readonly status?: string }
  /** The result of `useFeedback()`. */
  feedback: SessionFeedback
  /** Asks for a comment after thumbs down. @default true */
  askComment?: boolean | undefined
  /** Texts that differ from the English ones. @default English texts */
  labels?: Partial<FeedbackLabels> | undefined
  className?: string | undefined
}

/**
 * Two toggle buttons, thumbs up and down, below a finished answer. Pressing the pressed one removes the feedback. After thumbs down, it asks for
 * a comment. Screen readers hear when the feedback was stored.
 */
export function Feedback({ message, feedback, askComment = true, labels, className }: FeedbackProps): ReactNode {
  const texts = { ...englishFeedbackLabels, ...labels }
  const [news, setNews] = useState('')
  const { id, role, status = 'done' } = message
  if (role !== 'assistant' || status === 'streaming' || status === 'suspended') return null
  const given = feedback.of(id)
  const toggle = async (score: 'up' | 'down', isPressed: boolean) => {
    const isDone = await (isPressed ? feedback.remove(id) : feedback.give(id, { score }))
    setNews(isDone ? (isPressed ? texts.removed : texts.stored) : '')
  }
  const button = (score: 'up' | 'down', isPressed: boolean) => (
    <button
      type="button"
      className={`allium-feedback-${score}`}
      aria-pressed={isPressed}
      onClick={() => void toggle(score, isPressed)}
    >
      {texts[score]}
    </button>
  )
  const isDown = given !== undefined && given.score < 0.5
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a legend, which pages cannot style freely
    <div role="group" className={['allium-feedback', className].filter(Boolean).join(' ')} aria-label={texts.group}>
      {button('up', given !== undefined && given.score > 0.5)}
      {button('down', isDown)}
      {isDown && askComment && (
        <CommentForm
          key={id}
          texts={texts}
          initial={given.comment ?? ''}
          onSend={async (comment) => {
            const isDone = await feedback.give(id, {
              ...given,
              ...(comment === '' ? { comment: undefined } : { comment }),
            })
            setNews(isDone ? texts.stored : '')
          }}
        />
      )}
      <span role="status" className="allium-feedback-status">
        {news}
      </span>
    </div>
  )
}

/** Longest comment in characters, so that it fits into the bytes that the server takes in most languages. */
const maxComment = 1300

interface CommentFormProps {
  texts: FeedbackLabels
  initial: string
  onSend(comment: string): Promise<void>
}

function CommentForm({ texts, initial, onSend }: CommentFormProps): ReactNode {
  const [text, setText] = useState(initial)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void onSend(text.trim())
  }
  return (
    <form className="allium-feedback-form" onSubmit={submit}>
      <label>
        {texts.comment}
        <textarea value={text} maxLength={maxComment} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit">{texts.send}</button>
    </form>
  )
}
