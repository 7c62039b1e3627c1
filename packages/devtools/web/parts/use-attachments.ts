import { useRef, useState } from 'preact/hooks'
import type { Attachment } from '../store/attachments.ts'
import { attach } from '../store/read-file.ts'

/** The files of the next message. */
export function useAttachments() {
  const [files, setFiles] = useState<Attachment[]>([])
  const [fault, setFault] = useState('')
  const current = useRef<Attachment[]>([])
  const store = (next: Attachment[]) => {
    current.current = next
    setFiles(next)
  }
  return {
    files,
    fault,
    async add(added: Iterable<File>) {
      setFault('')
      try {
        for (const file of added) store([...current.current, await attach(file, current.current)])
      } catch (error) {
        setFault((error as Error).message)
      }
    },
    remove: (file: Attachment) => store(current.current.filter((one) => one !== file)),
    clear: () => {
      setFault('')
      store([])
    },
  }
}
