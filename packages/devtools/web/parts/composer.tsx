import { useRef, useState } from 'preact/hooks'
import { type Attachment, shownName, size } from '../store/attachments.ts'
import { useAttachments } from './use-attachments.ts'

export interface ComposerProps {
  isRunning: boolean
  send(text: string, files: readonly Attachment[]): Promise<void>
  steer(text: string, files: readonly Attachment[]): Promise<void>
  stop(): Promise<void>
}

/** The input of the chat. While a turn runs, it steers that turn. Enter sends, Shift+Enter adds a line. Files can be pasted or dropped. */
export function Composer({ isRunning, send, steer, stop }: ComposerProps) {
  const [text, setText] = useState('')
  const { files, fault, add, remove, clear } = useAttachments()
  const form = useRef<HTMLFormElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (text.trim() === '' && files.length === 0) return
    setText('')
    clear()
    await (isRunning ? steer(text, files) : send(text, files))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.current?.requestSubmit()
  }
  const take = (event: Event, data: DataTransfer | null) => {
    if (data === null || data.files.length === 0) return
    event.preventDefault()
    void add(data.files)
  }
  return (
    <form
      class="composer"
      ref={form}
      onSubmit={submit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer)}
    >
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map((file) => (
            <Attached key={file} file={file} remove={() => remove(file)} />
          ))}
        </ul>
      )}
      {fault !== '' && (
        <p class="attached" role="alert">
          {fault}
        </p>
      )}
      <textarea
        aria-label="Message"
        rows={2}
        placeholder={isRunning ? 'Send a message to the running turn' : 'Ask the agent'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => take(event, event.clipboardData)}
      />
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          void add([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
      <button type="button" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}>
        +
      </button>
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

function Attached({ file: { name, bytes }, remove }: { file: Attachment; remove(): void }) {
  return (
    <li>
      <bdi>{shownName(name)}</bdi> <span class="subject">{size(bytes)}</span>
      <button type="button" class="quiet" aria-label={`Remove ${shownName(name)}`} onClick={remove}>
        ×
      </button>
    </li>
  )
}
