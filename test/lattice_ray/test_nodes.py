import socket
import unittest

from lattice_ray.nodes import answering


def node(port: int, alive: bool = True) -> dict[str, object]:
    return {"NodeManagerAddress": "127.0.0.1", "NodeManagerPort": port, "Alive": alive}


class Answering(unittest.TestCase):
    def test_a_node_that_takes_no_connection_is_left_out_though_ray_lists_it_as_alive(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_server(("127.0.0.1", 0)) as other:
                closed = other.getsockname()[1]
            there = node(port)
            self.assertEqual(answering([node(closed), there, node(port, alive=False)]), [there])
            self.assertEqual(answering([]), [])


if __name__ == "__main__":
    unittest.main()
