import { useRef, useState } from 'preact/hooks'

export interface ComposerProps {
  isRunning: boolean
  send(text: string): Promise<void>
  steer(text: string): Promise<void>
  stop(): Promise<void>
}

/** The input of the chat. While a turn runs, it steers that turn. Enter sends, Shift+Enter adds a line. */
export function Composer({ isRunning, send, steer, stop }: ComposerProps) {
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return
    setText('')
    await (isRunning ? steer(text) : send(text))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.current?.requestSubmit()
  }
  return (
    <form class="composer" ref={form} onSubmit={submit}>
      <textarea
        aria-label="Message"
        rows={2}
        placeholder={isRunning ? 'Send a message to the running turn' : 'Ask the agent'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" class="primary">
        {isRunning ? 'Steer' : 'Send'}
      </button>
      {isRunning && (
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      )}
    </form>
  )
}
