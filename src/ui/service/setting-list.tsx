import { settings } from './service-state.js';

/** Settings in force, those that were changed marked. */
export function SettingList() {
  const all = settings.value;
  if (all === null) return null;
  const changed = all.filter((setting) => !setting.is_default).length;
  return (
    <details class="card settings">
      <summary>
        <h2>Settings in force</h2>
        <span class="fine">
          {changed === 0 ? 'all at their defaults' : `${changed} of ${all.length} changed`}
        </span>
      </summary>
      <dl>
        {all.map(({ name, value, is_default: isDefault, description }) => (
          <div key={name} class={isDefault ? '' : 'changed'}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <code>{value}</code>
              {!isDefault && <span class="badge">changed</span>}
              <p class="fine">{description}</p>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
