/** The keys of the views that are shown. */
import { Modal } from './modal.js';
import { isHelpOpen, tables } from './shortcuts.js';

export function ShortcutHelp() {
  return (
    <Modal title="Keys" onClose={() => (isHelpOpen.value = false)}>
      {tables.value.map(({ name, shortcuts }) => (
        <section key={name} class="shortcuts">
          <h3>{name}</h3>
          <dl>
            {shortcuts.map(({ keys, title }) => (
              <div key={keys}>
                <dt>
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{title}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
