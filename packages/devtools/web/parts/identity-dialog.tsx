import { useEffect, useRef, useState } from 'preact/hooks'
import type { Identity } from '../store/api.ts'
import { deletePreset, type Preset, readPresets, savePreset } from '../store/presets.ts'
import { pretty } from './format.ts'

interface IdentityDialogProps {
  identity: Identity
  apply(identity: Identity): void
  close(): void
}

/** Chooses the principal and the runtime context of new sessions, as JSON, and keeps presets of them in this browser. */
export function IdentityDialog({ identity, apply, close }: IdentityDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [principal, setPrincipal] = useState(pretty(identity.principal))
  const [context, setContext] = useState(identity.context === undefined ? '' : pretty(identity.context))
  const [name, setName] = useState('')
  const [fault, setFault] = useState('')
  const [presets, setPresets] = useState(readPresets)
  useEffect(() => dialog.current?.showModal(), [])

  const read = (): Identity => ({
    principal: objectOf('The principal', principal),
    ...(context.trim() !== '' && { context: objectOf('The context', context) }),
  })
  const attempt = (work: () => void) => {
    try {
      work()
      setFault('')
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  const choose = ({ identity: { principal, context } }: Preset) => {
    setPrincipal(pretty(principal))
    setContext(context === undefined ? '' : pretty(context))
  }
  const useIt = (event: Event) => {
    event.preventDefault()
    attempt(() => {
      apply(read())
      close()
    })
  }
  return (
    <dialog ref={dialog} onClose={close} aria-label="Acting as">
      <form onSubmit={useIt}>
        <h2>Acting as</h2>
        <p>New sessions belong to this principal. Existing sessions continue as their own.</p>
        {presets.map((preset) => (
          <div key={preset.name} class="row">
            <button type="button" onClick={() => choose(preset)}>
              {preset.name}
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Delete ${preset.name}`}
              onClick={() => setPresets(deletePreset(preset.name))}
            >
              Delete
            </button>
          </div>
        ))}
        <label>
          Principal
          <textarea
            rows={5}
            spellcheck={false}
            value={principal}
            onInput={({ currentTarget }) => setPrincipal(currentTarget.value)}
          />
        </label>
        <label>
          Context
          <textarea
            rows={3}
            spellcheck={false}
            value={context}
            onInput={({ currentTarget }) => setContext(currentTarget.value)}
          />
        </label>
        {fault !== '' && <p role="alert">{fault}</p>}
        <div class="row">
          <button type="submit" class="primary">
            Use
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <input
            aria-label="Name of the preset"
            placeholder="Preset name"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <button
            type="button"
            disabled={name.trim() === ''}
            onClick={() => attempt(() => setPresets(savePreset({ name: name.trim(), identity: read() })))}
          >
            Keep
          </button>
        </div>
      </form>
    </dialog>
  )
}

function objectOf(what: string, text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${what} is not JSON: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new Error(`${what} is not a JSON object.`)
}
