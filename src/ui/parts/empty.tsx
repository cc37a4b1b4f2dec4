import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

/** Shown in place of missing content: the reason, and the next step as `children`. */
export function Empty(props: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  );
}
