import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { ChatTurn } from '../parts/chat-turns.ts'
import { count, pretty } from '../parts/format.ts'
import type { Identity } from '../store/api.ts'
import { devApi } from '../store/dev-api.ts'
import { attachmentsOf, Files } from '../store/files.ts'
import { caseOf, earlierThan, finalAnswer } from './case-of-turn.ts'

interface SaveCaseProps {
  turn: ChatTurn
  /** The turns of its session, oldest first. */
  turns: readonly ChatTurn[]
  identity: Identity
  close(): void
}

interface Answer {
  id: string
  file: string
  isDuplicate: boolean
}

/** Saves a turn as a case for `allium eval`: its input, its principal and context, and the answer that is expected. */
export function SaveCaseDialog({ turn, turns, identity, close }: SaveCaseProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const load = useContext(Files)
  const earlier = earlierThan(turn, turns)
  const [id, setId] = useState(`turn-${turn.turnId}`.slice(0, 200))
  const [expected, setExpected] = useState(() => finalAnswer(turn, turns))
  const [tags, setTags] = useState('')
  const [withEarlier, setWithEarlier] = useState(earlier.length > 0)
  const [answer, setAnswer] = useState<Answer>()
  const [fault, setFault] = useState('')
  useEffect(() => dialog.current?.showModal(), [])

  const save = async (event: Event) => {
    event.preventDefault()
    setFault('')
    try {
      const files = await attachmentsOf(turn.files, load)
      const fields = { id, expected, tags, earlier: withEarlier ? earlier : [], files }
      setAnswer(await devApi<Answer>('/evals/cases', caseOf(turn, identity, fields)))
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  return (
    <dialog ref={dialog} onClose={close} aria-label="Save as eval case">
      <form onSubmit={(event) => void save(event)}>
        <h2>Save as eval case</h2>
        <div class="label">Input</div>
        <pre tabIndex={0}>{pretty(turn.input ?? '')}</pre>
        {turn.files.length > 0 && <p class="subject">{`With ${count(turn.files.length, 'file')}.`}</p>}
        {earlier.length > 0 && (
          <label>
            <input
              type="checkbox"
              checked={withEarlier}
              onChange={({ currentTarget }) => setWithEarlier(currentTarget.checked)}
            />{' '}
            {`with the texts of ${count(earlier.length, 'earlier turn')}`}
          </label>
        )}
        <label>
          Expected answer, for scorers
          <textarea rows={5} value={expected} onInput={({ currentTarget }) => setExpected(currentTarget.value)} />
        </label>
        <label>
          Tags, separated by commas <input value={tags} onInput={({ currentTarget }) => setTags(currentTarget.value)} />
        </label>
        <label>
          Id <input required maxLength={200} value={id} onInput={({ currentTarget }) => setId(currentTarget.value)} />
        </label>
        <details>
          <summary>Principal and context</summary>
          <pre tabIndex={0}>{pretty(identity)}</pre>
        </details>
        {fault !== '' && <p role="alert">{pretty(fault)}</p>}
        <p role="status" class={answer?.isDuplicate ? 'finding warn' : ''}>
          {answer !== undefined && wordsOf(answer)}
        </p>
        <div class="row">
          <button type="submit" class="primary" disabled={answer !== undefined && !answer.isDuplicate}>
            Save
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </form>
    </dialog>
  )
}

function wordsOf({ id, file, isDuplicate }: Answer): string {
  if (isDuplicate)
    return `${file} already has this input with this principal and context, as "${pretty(id)}". Nothing was written.`
  return `Saved as "${pretty(id)}" in ${file}.`
}
