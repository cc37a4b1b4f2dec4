import type { ComponentProps } from 'preact';
import { Icon, type IconName } from './icon.js';

interface ButtonProps extends ComponentProps<'button'> {
  icon?: IconName;
  /** Name of its action, where its content does not say it. */
  name?: string;
}

/** A button that submits no form. */
export function Button({ icon, name, children, ...props }: ButtonProps) {
  return (
    <button type="button" aria-label={name} title={name} {...props}>
      {icon !== undefined && <Icon name={icon} />} {children}
    </button>
  );
}
